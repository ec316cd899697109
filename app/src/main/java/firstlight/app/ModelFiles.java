package firstlight.app;

import firstlight.model.CacheFolder;
import firstlight.model.ChatTemplate;
import firstlight.model.Model;
import firstlight.model.ModelSource;
import firstlight.model.ModelStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Gets the files of the configured models and opens them. */
final class ModelFiles {
  private ModelFiles() {}

  static Path folder() {
    return CacheFolder.ofUser().resolve("models");
  }

  static Path fetch(ModelStore store, ModelEntry entry, Progress progress) {
    ModelSource source = Objects.requireNonNull(entry.source(), "a checked entry has a source");
    try {
      return store.fetch(entry.name(), source, progress.of(entry.name()));
    } finally {
      progress.end();
    }
  }

  /** Fetches it when it is missing, checks it, and reads all but its weights. */
  static Model open(ModelStore store, ModelEntry entry, Progress progress) throws IOException {
    Path file = fetch(store, entry, progress);
    @Nullable String template =
        entry.template().isPresent() ? template(entry.template().get()) : null;
    return Model.open(entry.name(), file, template);
  }

  /**
   * The text of a file, or of a template that comes with the product when only its name is said.
   */
  private static String template(Path named) throws IOException {
    boolean isName = named.getNameCount() == 1 && !Files.exists(named);
    return isName ? ChatTemplate.builtIn(named.toString()) : Files.readString(named);
  }
}
