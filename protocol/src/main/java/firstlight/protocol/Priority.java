package firstlight.protocol;

/** Whose turn it is when several generations wait, the least urgent first. */
public enum Priority {
  /** For work that nobody is waiting for. */
  LOW,
  NORMAL,
  HIGH
}
