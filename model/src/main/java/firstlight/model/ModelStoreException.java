package firstlight.model;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/** A model that could not be got. The message is one sentence or two: what failed, what to do. */
public final class ModelStoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ModelStoreException(String message) {
    super(message, null, false, false);
  }

  /** What a failure of the disk under a folder means. */
  static ModelStoreException of(IOException failure, Path directory) {
    String text = String.valueOf(failure.getMessage());
    if (failure instanceof AccessDeniedException
        || text.contains("Permission denied")
        || text.contains("Read-only file system")) {
      return new ModelStoreException(
          "No permission to write in %s. Allow it, or set another folder for models."
              .formatted(directory));
    }
    if (text.contains("No space left") || text.contains("quota")) {
      return full(directory);
    }
    String kind = failure instanceof FileSystemException ? failure.getClass().getSimpleName() : "";
    return new ModelStoreException(
        "Models cannot be kept in %s: %s %s. Set another folder for models."
            .formatted(directory, text, kind));
  }

  static ModelStoreException full(Path directory) {
    return new ModelStoreException(
        "The disk of %s is full. Free some space, or set another folder for models."
            .formatted(directory));
  }

  static ModelStoreException interrupted(String name) {
    return new ModelStoreException("Fetching the model %s was interrupted.".formatted(name));
  }
}
