package firstlight.app;

import java.net.BindException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** Says in one line why something can not start, and what helps. */
final class Reasons {
  private Reasons() {}

  static String of(Throwable failure) {
    return switch (failure) {
      case ExecutionException wrapped when wrapped.getCause() != null -> of(wrapped.getCause());
      case CompletionException wrapped when wrapped.getCause() != null -> of(wrapped.getCause());
      case StartFailure known -> String.valueOf(known.getMessage());
      case BindException taken ->
          "a port is taken (%s). Choose another with --port.".formatted(taken.getMessage());
      case AccessDeniedException denied ->
          "no permission for %s. Choose another folder or change its owner."
              .formatted(denied.getFile());
      case NoSuchFileException missing -> "%s does not exist".formatted(missing.getFile());
      case FileSystemException full when isFull(full) ->
          "the disk is full (%s). Free some space and start again.".formatted(full.getFile());
      case OutOfMemoryError _ ->
          "there is not enough memory. Give more with -Xmx, or less KV memory.";
      default -> lastWords(failure);
    };
  }

  private static boolean isFull(FileSystemException failure) {
    return String.valueOf(failure.getReason()).contains("No space left");
  }

  /** The message of the failure, or of what caused it, or at least its kind. */
  private static String lastWords(Throwable failure) {
    Throwable cause = failure;
    while (cause.getMessage() == null && cause.getCause() != null) {
      cause = cause.getCause();
    }
    String message = cause.getMessage();
    return message == null ? cause.getClass().getSimpleName() : message;
  }
}
