/**
 * A model file as data. Plain Java: no event loop, no device.
 *
 * <ul>
 *   <li><b>A model</b>: {@link firstlight.model.Model} is a name, a file, a tokenizer and a chat
 *       template.
 *   <li><b>The file</b>: {@link firstlight.model.ModelFile} opens, checks and maps GGUF; {@link
 *       firstlight.model.Metadata}, {@link firstlight.model.Tensor} and {@link
 *       firstlight.model.Hyperparameters} are what it holds. GgufReader and GgufMetadataReader read
 *       the head through GgufCursor, which checks every read; Architecture and TensorCheck say what
 *       a supported model must have; Blocks decodes stored numbers.
 *   <li><b>Where it comes from</b>: {@link firstlight.model.ModelSource}, fetched by {@link
 *       firstlight.model.ModelStore} through WebDownload or PipDownload; {@link
 *       firstlight.model.DefaultModels}.
 *   <li><b>Text and ids</b>: {@link firstlight.model.Tokenizer}, made by Tokenizers.
 *   <li><b>Conversations</b>: {@link firstlight.model.ChatTemplate} turns {@link
 *       firstlight.model.ChatMessage}s into a prompt.
 *   <li><b>Answers of a form</b>: {@link firstlight.model.Grammar}, read from GBNF or made of a
 *       JSON Schema by {@link firstlight.model.SchemaGrammar} (with SchemaNode, SchemaObjects,
 *       SchemaTypes, SchemaMerge, JsonGrammar, RegexParser, NumberRanges); {@link
 *       firstlight.model.Constraint} follows it over a model's tokens (AutomatonBuilder, Matcher,
 *       TokenTrie, TokenMasks).
 *   <li><b>Calls and reasoning</b>: {@link firstlight.model.ToolFormat}, chosen by FormatChoice,
 *       knows how a family of models writes them. What families differ in is a CallNotation
 *       (HermesNotation, LlamaNotation, MistralNotation, PythonNotation), all else is one:
 *       FamilyParser takes an answer apart into {@link firstlight.model.AnswerPart}s, with a
 *       CallReader for calls (CallsReader of JsonCall or PythonCall, NamedCallReader) over
 *       ValueScanner; AnswerGrammar says what an answer must be, of {@link
 *       firstlight.model.AnswerRules} (with ArgumentsGrammar, FreeText); WrittenHistory writes what
 *       a template cannot.
 *   <li><b>Failures</b>: {@link firstlight.model.InvalidModelFile}, {@link
 *       firstlight.model.ModelStoreException}, {@link firstlight.model.TemplateException}, {@link
 *       firstlight.model.InvalidGrammar}; each has a message of one line, made for people.
 * </ul>
 */
@NullMarked
package firstlight.model;

import org.jspecify.annotations.NullMarked;
