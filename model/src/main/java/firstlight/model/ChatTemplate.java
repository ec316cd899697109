package firstlight.model;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A model's chat template: turns a conversation into the prompt the model was trained on.
 * Thread-safe.
 *
 * <p>Templates are in the Jinja language as Hugging Face models use it, run by an interpreter that
 * knows no Java objects and works within a {@linkplain JinjaBudget budget}. Only text of the
 * template itself becomes control tokens (see {@link ControlGuard}).
 */
public final class ChatTemplate {
  private static final Set<String> ROLES =
      Set.of("system", "developer", "user", "assistant", "tool", "function");
  private static final List<String> BUILT_IN = List.of("gemma3");
  private static final Set<String> RESERVED =
      Set.of(
          "messages",
          "tools",
          "documents",
          "add_generation_prompt",
          "bos_token",
          "eos_token",
          "chat_template",
          "loop",
          "caller");

  private final String source;
  private final String digest;
  private final List<JinjaNode> nodes;
  private final Tokenizer tokenizer;
  private final TextMatcher controls = new TextMatcher();
  private final ControlGuard guard;
  private final ToolFormat format;

  private ChatTemplate(String source, List<JinjaNode> nodes, Tokenizer tokenizer) {
    this.source = source;
    digest = Sha256.of(source);
    this.nodes = nodes;
    this.tokenizer = tokenizer;
    this.format = FormatChoice.of(source);
    List<String> texts = new ArrayList<>();
    for (int id = 0; id < tokenizer.vocabularySize(); id++) {
      // A guard cannot be set into a single char, so that one would be open to any text.
      if (tokenizer.isControl(id) && tokenizer.text(id).length() > 1) {
        controls.add(tokenizer.text(id), id);
        texts.add(tokenizer.text(id));
      }
    }
    guard = new ControlGuard(texts);
  }

  /** SHA-256 of its source, hexadecimal. */
  public String digest() {
    return digest;
  }

  /**
   * Compiles a template in the Jinja language, as Hugging Face models carry it.
   *
   * @throws TemplateException not a template, or it uses what is not allowed here
   */
  public static ChatTemplate compile(String source, Tokenizer tokenizer) {
    return new ChatTemplate(source, JinjaParser.parse(source), tokenizer);
  }

  /**
   * The source of a template that comes with Firstlight, for model files that lack theirs.
   *
   * @throws TemplateException there is none of this name; the message lists those there are
   */
  public static String builtIn(String name) {
    if (!BUILT_IN.contains(name)) {
      throw new TemplateException(
          "there is no template \"%s\"; templates are %s"
              .formatted(name, String.join(", ", BUILT_IN)));
    }
    try (InputStream in = ChatTemplate.class.getResourceAsStream("templates/" + name + ".jinja")) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** How the model writes calls and reasoning, found out once. */
  ToolFormat format() {
    return format;
  }

  /**
   * The prompt's token ids. Text of messages, tools and extra values never becomes a control token.
   *
   * @param tools tool definitions in the shape of the chat completions interface; empty for none
   * @param extra further values for the template (chat_template_kwargs)
   * @param addGenerationPrompt whether the prompt ends by opening the assistant's turn
   * @param now the date the template may print
   * @throws TemplateException the template refuses the conversation, an extra value has a reserved
   *     name, or a limit is reached
   */
  public int[] prompt(
      List<ChatMessage> messages,
      List<Map<String, Object>> tools,
      Map<String, Object> extra,
      boolean addGenerationPrompt,
      Instant now) {
    checkExtra(extra);
    ControlGuard.Input input = guard.new Input();
    input.note(source);
    messages.forEach(message -> note(message, input));
    input.note(tools);
    input.note(extra);
    char mark = input.guard();

    Map<String, @Nullable Object> context = new HashMap<>();
    extra.forEach((name, value) -> context.put(name, guard.guarded(value, mark)));
    context.put("messages", messages.stream().map(message -> map(message, mark)).toList());
    context.put("tools", tools.isEmpty() ? null : guard.guarded(tools, mark));
    context.put("documents", null);
    context.put("add_generation_prompt", addGenerationPrompt);
    context.put("bos_token", text(tokenizer.bos()));
    context.put("eos_token", text(tokenizer.eos()));
    return encode(render(nodes, context, now, input.chars()), mark);
  }

  /** Runs a template, without guards. */
  static String render(
      List<JinjaNode> nodes, Map<String, @Nullable Object> context, Instant now, long inputChars) {
    JinjaBudget budget = new JinjaBudget(inputChars);
    JinjaScope globals = JinjaGlobals.scope(now, budget);
    context.forEach(globals::set);
    return new JinjaRenderer(budget).render(nodes, globals);
  }

  private static void checkExtra(Map<String, Object> extra) {
    Set<String> taken = new TreeSet<>(extra.keySet());
    taken.removeIf(name -> !RESERVED.contains(name) && !JinjaGlobals.NAMES.contains(name));
    if (!taken.isEmpty()) {
      throw new TemplateException(
          "chat_template_kwargs cannot set %s".formatted(String.join(", ", taken)));
    }
  }

  private static void note(ChatMessage message, ControlGuard.Input input) {
    if (!ROLES.contains(message.role())) {
      throw new TemplateException(
          "there is no role \"%s\"; roles are %s".formatted(message.role(), new TreeSet<>(ROLES)));
    }
    input.note(message.content());
    input.note(message.toolCalls());
    input.note(message.toolCallId());
    input.note(message.name());
  }

  private Map<String, @Nullable Object> map(ChatMessage message, char mark) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("role", role(message.role()));
    map.put("content", guard.guarded(message.content(), mark, true));
    if (!message.toolCalls().isEmpty()) {
      map.put("tool_calls", guard.guarded(message.toolCalls(), mark));
    }
    if (message.toolCallId() != null) {
      map.put("tool_call_id", guard.guarded(message.toolCallId(), mark));
    }
    if (message.name() != null) {
      map.put("name", guard.guarded(message.name(), mark));
    }
    return map;
  }

  /** Most templates do not know developers, whose word counts as the system's. */
  private String role(String role) {
    return role.equals("developer") && !source.contains("developer") ? "system" : role;
  }

  private String text(OptionalInt id) {
    return id.isPresent() ? tokenizer.text(id.getAsInt()) : "";
  }

  private int[] encode(String rendered, char mark) {
    Ids ids = new Ids();
    int from = 0;
    while (from < rendered.length()) {
      TextMatcher.Match match = controls.find(rendered, from);
      int to = match == null ? rendered.length() : match.start();
      if (to > from) {
        String plain = rendered.substring(from, to).replace(String.valueOf(mark), "");
        ids.addAll(tokenizer.encode(plain));
      }
      if (match != null) {
        ids.add(match.id());
      }
      from = match == null ? rendered.length() : match.end();
    }
    return withBos(ids);
  }

  /** Sets the token before the prompt that the file asks for, unless the template printed it. */
  private int[] withBos(Ids ids) {
    OptionalInt bos = tokenizer.bos();
    int[] empty = tokenizer.encodePrompt("");
    boolean wanted = bos.isPresent() && empty.length > 0 && empty[0] == bos.getAsInt();
    if (!wanted || (ids.size() > 0 && ids.get(0) == bos.getAsInt())) {
      return ids.toArray();
    }
    Ids prompt = new Ids();
    prompt.add(bos.getAsInt());
    prompt.addAll(ids.toArray());
    return prompt.toArray();
  }
}
