package firstlight.lake;

/** How rows are written. */
public enum RowFormat {
  /** For eyes: columns side by side, long values cut. */
  TABLE,
  /** With a line of names; null is empty, an empty text is "". What is nested is JSON. */
  CSV,
  /** One array of objects. */
  JSON,
  /** One object a line. */
  JSONL,
  /** A file of its own, zstd. */
  PARQUET
}
