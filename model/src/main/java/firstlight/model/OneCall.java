package firstlight.model;

/** Reads a single call, without what stands around it. */
interface OneCall {
  /**
   * One more character.
   *
   * @return whether it belongs to the call; if not, this is none, or was one up to here
   */
  boolean next(char c, CallReader.Sink sink);

  boolean isOver();
}
