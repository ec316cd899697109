package firstlight.edge;

import firstlight.protocol.Event;
import firstlight.protocol.EventWire;
import firstlight.protocol.GivenFeedback;
import firstlight.protocol.NodeId;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A feedback for the data lake. What a client says in its own words is kept as the tenant has its
 * texts kept; numbers, categories and names are kept always.
 *
 * @param time when it was taken: Unix time, ms
 */
record FeedbackFacts(
    String id,
    TenantId tenant,
    GivenFeedback given,
    TextPolicy policy,
    NodeId node,
    long time,
    TextKeeper keeper)
    implements EventDraft {
  private static final int OVERHEAD_BYTES = 512;

  @Override
  public Importance importance() {
    return Importance.FEEDBACK;
  }

  @Override
  public int weight() {
    int text = given.text() == null ? 0 : given.text().length();
    return OVERHEAD_BYTES + 2 * (text + given.comment().length() + given.correction().length());
  }

  @Override
  public List<firstlight.protocol.wire.Event> build() {
    return List.of(EventWire.of(new Event(id, time, tenant, node, session(), kept())));
  }

  private String session() {
    for (String target : List.of(given.conversation(), given.response(), given.item())) {
      if (!target.isEmpty()) {
        return target;
      }
    }
    return given.feedback();
  }

  private GivenFeedback kept() {
    TextKeeper.Kept comment = own(given.comment());
    TextKeeper.Kept correction = own(given.correction());
    int redactions = comment.redactions() + correction.redactions();
    @Nullable String text = given.text();
    if (text != null && given.dataType().equals("text")) {
      TextKeeper.Kept words = own(text);
      text = words.text();
      redactions += words.redactions();
    }
    Map<String, String> metadata = new TreeMap<>();
    for (Map.Entry<String, String> pair : given.metadata().entrySet()) {
      TextKeeper.Kept value = keeper.keep(tenant, TextPolicy.FULL, pair.getValue());
      metadata.put(pair.getKey(), value.text());
      redactions += value.redactions();
    }
    return new GivenFeedback(
        given.feedback(),
        given.response(),
        given.conversation(),
        given.item(),
        given.name(),
        given.dataType(),
        given.number(),
        text,
        comment.text(),
        correction.text(),
        given.source(),
        metadata,
        given.range(),
        redactions);
  }

  private TextKeeper.Kept own(String words) {
    return keeper.keep(tenant, policy, words);
  }
}
