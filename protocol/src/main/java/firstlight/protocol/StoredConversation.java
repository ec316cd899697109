package firstlight.protocol;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A conversation as it is at one moment. Its Items are those of the turns from its head back; these
 * turns are its own, and no Responses.
 *
 * @param created Unix time, ms
 * @param metadata a JSON object
 * @param head the newest turn; null: it has no Items yet
 * @param removed ids of Items that are no longer shown
 */
public record StoredConversation(
    ConversationId id,
    TenantId tenant,
    long created,
    String metadata,
    @Nullable ResponseId head,
    List<String> removed) {
  public StoredConversation {
    removed = List.copyOf(removed);
  }
}
