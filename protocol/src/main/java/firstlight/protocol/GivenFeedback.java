package firstlight.protocol;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A client's judgement of a Response, a conversation or an Item: exactly one of the three is not
 * empty. Other texts that say nothing are empty.
 *
 * @param dataType numeric, boolean, categorical or text; empty where there is no value
 * @param number the value of a numeric one; 1 or 0 of a boolean one
 * @param text the value of a categorical one or a text
 * @param range the part of the output that is meant; null: all of it
 * @param redactions how many places were redacted in its texts
 */
public record GivenFeedback(
    String feedback,
    String response,
    String conversation,
    String item,
    String name,
    String dataType,
    @Nullable Double number,
    @Nullable String text,
    String comment,
    String correction,
    String source,
    Map<String, String> metadata,
    @Nullable Range range,
    int redactions)
    implements EventBody {
  public GivenFeedback {
    metadata = Map.copyOf(metadata);
  }

  /** Positions among the output tokens: from start, up to but without end. */
  public record Range(int start, int end) {}
}
