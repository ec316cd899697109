package firstlight.model;

import java.nio.file.Path;

/**
 * A model file that cannot be used. The message is one line: the file, where in it, and the reason.
 */
public final class InvalidModelFile extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final int SHOWN_MAX = 80;

  InvalidModelFile(Path path, String reason) {
    super(path + ": " + reason, null, false, false);
  }

  InvalidModelFile(Path path, long offset, String reason) {
    super(path + ": at byte " + offset + ": " + reason, null, false, false);
  }

  /** A name out of a file, made fit for a message: short, in quotes, on one line. */
  static String shown(String name) {
    StringBuilder shown = new StringBuilder("'");
    name.codePoints()
        .limit(SHOWN_MAX)
        .map(c -> Character.isISOControl(c) || !Character.isDefined(c) ? '\uFFFD' : c)
        .forEach(shown::appendCodePoint);
    return shown.append(name.length() > SHOWN_MAX ? "…'" : "'").toString();
  }
}
