package firstlight.model;

/** Reads what may be calls in the notation of a family, character by character. For one try. */
interface CallReader {
  /** What became of a character. */
  enum Progress {
    /** It belongs to the calls. */
    TAKEN,
    /** It was the last one. */
    OVER,
    /** It does not belong to them, and neither does what was read since the last call. */
    REFUSED
  }

  /** Hears what is certain. */
  interface Sink {
    /** A call begins. */
    void call(String name);

    /** More of its arguments. */
    void arguments(CharSequence json);

    /** All that was read so far belongs to calls. */
    void taken();
  }

  Progress next(char c, Sink sink);

  /** Whether nothing is missing but the end of the notation. */
  boolean isClosing();
}
