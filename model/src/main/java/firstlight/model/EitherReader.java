package firstlight.model;

import org.jspecify.annotations.Nullable;

/** Reads calls in one of two notations, which differ in their first character after blanks. */
final class EitherReader implements CallReader {
  private final char first;
  private final CallReader one;
  private final CallReader other;
  private @Nullable CallReader chosen;

  /**
   * @param first with which the one begins, and the other never does
   */
  EitherReader(char first, CallReader one, CallReader other) {
    this.first = first;
    this.one = one;
    this.other = other;
  }

  @Override
  public Progress next(char c, Sink sink) {
    if (chosen == null && ValueScanner.isBlank(c)) {
      return Progress.TAKEN;
    }
    if (chosen == null) {
      chosen = c == first ? one : other;
    }
    return chosen.next(c, sink);
  }

  @Override
  public boolean isClosing() {
    return chosen != null && chosen.isClosing();
  }
}
