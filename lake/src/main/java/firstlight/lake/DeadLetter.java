package firstlight.lake;

/**
 * What stands in the headers of a record on the dead-letter topic. Its key and value are those of
 * the record that was no Event.
 */
public final class DeadLetter {
  /** {@link EventDecoder.Poison#word()}. */
  public static final String REASON = "firstlight-reason";

  /** Where the record lay. */
  public static final String TOPIC = "firstlight-topic";

  public static final String PARTITION = "firstlight-partition";
  public static final String OFFSET = "firstlight-offset";

  /** The value's length, when it was too large to go along. */
  public static final String LEFT_OUT = "firstlight-left-out-bytes";

  private DeadLetter() {}
}
