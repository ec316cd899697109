package firstlight.model;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A named model as data: its file, tokenizer and chat template. Thread-safe. */
public final class Model implements AutoCloseable {
  /** Where a file keeps its template. */
  static final String TEMPLATE_KEY = "tokenizer.chat_template";

  private final String name;
  private final ModelFile file;
  private final Hyperparameters hyperparameters;
  private final Tokenizer tokenizer;
  private final @Nullable ChatTemplate template;

  private Model(String name, ModelFile file, @Nullable String templateOverride) {
    this.name = name;
    this.file = file;
    hyperparameters = file.hyperparameters();
    tokenizer = Tokenizers.of(file);
    String source =
        templateOverride != null
            ? templateOverride
            : file.metadata().findString(TEMPLATE_KEY).orElse(null);
    template = source == null ? null : ChatTemplate.compile(source, tokenizer);
  }

  /**
   * Opens a model: checks the file, its hyperparameters and tensors, reads its vocabulary, compiles
   * its template.
   *
   * @param templateOverride a template to be used instead of the file's own
   * @throws InvalidModelFile the file cannot be used
   * @throws TemplateException the template cannot be used
   */
  public static Model open(String name, Path path, @Nullable String templateOverride) {
    ModelFile file = ModelFile.open(path);
    try {
      return new Model(name, file, templateOverride);
    } catch (RuntimeException e) {
      file.close();
      throw e;
    }
  }

  public String name() {
    return name;
  }

  public ModelFile file() {
    return file;
  }

  public Hyperparameters hyperparameters() {
    return hyperparameters;
  }

  public Tokenizer tokenizer() {
    return tokenizer;
  }

  /** Empty: a base model, which has no chat format. */
  public Optional<ChatTemplate> template() {
    return Optional.ofNullable(template);
  }

  /** SHA-256 of the file, hexadecimal; the first call reads the whole file. */
  public String digest() {
    return file.digest();
  }

  /** Ends the file's mapping; tokenizer and template stay usable. */
  @Override
  public void close() {
    file.close();
  }
}
