package firstlight.edge;

/** Steers a running turn. All calls are harmless after its end. */
interface TurnHandle {
  /** Nobody wants the answer any more: its generations are stopped at once, no event follows. */
  void cancel();

  /**
   * The reader is slow. Events go on until the tokens that replicas were already allowed to send
   * are used up (at most the credit window for each choice), then the turn stands still, at no cost
   * to others.
   */
  void pause();

  /** The reader has caught up. */
  void resume();
}
