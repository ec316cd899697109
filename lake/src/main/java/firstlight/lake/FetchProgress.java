package firstlight.lake;

/** Hears how far a fetch of data files is; from several threads. */
@FunctionalInterface
public interface FetchProgress {
  /** For whoever does not want to know. */
  FetchProgress NONE = (_, _) -> {};

  void fetched(long bytes, long ofBytes);
}
