package firstlight.edge;

import firstlight.protocol.AppendItems;
import firstlight.protocol.ChangeConversation;
import firstlight.protocol.ConversationAppend;
import firstlight.protocol.ConversationDeleted;
import firstlight.protocol.ConversationFound;
import firstlight.protocol.ConversationId;
import firstlight.protocol.CreateConversation;
import firstlight.protocol.DeleteConversation;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FindConversation;
import firstlight.protocol.MeshException;
import firstlight.protocol.MeshMessage;
import firstlight.protocol.RemoveItem;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredConversation;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.ToConversation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The conversations of a {@link FakeSession}, in memory; their turns are the session's. */
final class FakeConversations {
  private final Map<ConversationId, StoredConversation> all = new ConcurrentHashMap<>();

  /**
   * @throws MeshException there is none of that id and tenant
   */
  MeshMessage answer(ToConversation ask) {
    return switch (ask) {
      case CreateConversation make -> {
        StoredConversation made =
            new StoredConversation(
                make.conversation(),
                make.tenant(),
                make.created(),
                make.metadata(),
                null,
                List.of());
        all.put(made.id(), made);
        yield new ConversationFound(made);
      }
      case FindConversation find -> new ConversationFound(find(find.tenant(), find.conversation()));
      case ChangeConversation change -> {
        StoredConversation old = find(change.tenant(), change.conversation());
        yield keep(old, change.metadata(), old.head(), old.removed());
      }
      case RemoveItem remove -> {
        StoredConversation old = find(remove.tenant(), remove.conversation());
        List<String> removed = new ArrayList<>(old.removed());
        removed.add(remove.item());
        yield keep(old, old.metadata(), old.head(), removed);
      }
      case DeleteConversation delete -> {
        find(delete.tenant(), delete.conversation());
        all.remove(delete.conversation());
        yield new ConversationDeleted(delete.conversation());
      }
      case AppendItems _ -> throw new IllegalStateException("the session has the turns");
    };
  }

  /** Moves the head; the result is the turn as it is to be stored. */
  StoredTurn append(ConversationId id, StoredTurn items) {
    StoredConversation old = find(items.tenant(), id);
    keep(old, old.metadata(), items.response(), old.removed());
    return copy(items, items.response(), old.head());
  }

  /** As {@link #append(ConversationId, StoredTurn)}, of a Response's Items. */
  StoredTurn append(ConversationAppend append, StoredTurn response) {
    return append(append.conversation(), copy(response, append.turn(), null));
  }

  private StoredConversation find(TenantId tenant, ConversationId id) {
    StoredConversation found = all.get(id);
    if (found == null || !found.tenant().equals(tenant)) {
      throw new MeshException(FailureKind.NOT_FOUND, "conversation_not_found", "No such.");
    }
    return found;
  }

  private ConversationFound keep(
      StoredConversation old, String metadata, @Nullable ResponseId head, List<String> removed) {
    StoredConversation changed =
        new StoredConversation(old.id(), old.tenant(), old.created(), metadata, head, removed);
    all.put(old.id(), changed);
    return new ConversationFound(changed);
  }

  private static StoredTurn copy(StoredTurn turn, ResponseId id, @Nullable ResponseId parent) {
    return new StoredTurn(
        id,
        turn.tenant(),
        parent,
        turn.model(),
        turn.created(),
        turn.status(),
        turn.input(),
        turn.output(),
        "",
        turn.usage());
  }
}
