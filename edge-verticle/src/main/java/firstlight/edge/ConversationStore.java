package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.AppendItems;
import firstlight.protocol.ChangeConversation;
import firstlight.protocol.ConversationAppend;
import firstlight.protocol.ConversationFound;
import firstlight.protocol.ConversationId;
import firstlight.protocol.CreateConversation;
import firstlight.protocol.DeleteConversation;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FindConversation;
import firstlight.protocol.MeshException;
import firstlight.protocol.RemoveItem;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredConversation;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.ToConversation;
import firstlight.protocol.Usage;
import io.vertx.core.Future;
import java.util.List;

/**
 * Stored conversations, reached over the event bus. All failures are {@link MeshException}s;
 * NOT_FOUND also for a conversation of another tenant.
 */
final class ConversationStore {
  private static final String STATUS = "completed";

  private final ResponseStore store;
  private final Json json;
  private final String param;

  /**
   * @param param where clients name a conversation, for failures
   */
  ConversationStore(ResponseStore store, Json json, String param) {
    this.store = store;
    this.json = json;
    this.param = param;
  }

  /** A conversation's id as a client wrote it. */
  static ConversationId id(String text, String param) {
    try {
      return new ConversationId(text);
    } catch (IllegalArgumentException _) {
      throw notFound(text, param);
    }
  }

  private static MeshException notFound(String id, String param) {
    return new MeshException(
        FailureKind.NOT_FOUND,
        "conversation_not_found",
        "The conversation '%s' does not exist.".formatted(EdgeModels.shown(id)),
        param,
        0);
  }

  Future<StoredConversation> create(
      TenantId tenant, ConversationId id, long createdMillis, ObjectNode metadata) {
    return ask(new CreateConversation(tenant, id, createdMillis, Json.text(metadata)));
  }

  Future<StoredConversation> find(TenantId tenant, ConversationId id) {
    return ask(new FindConversation(tenant, id));
  }

  Future<StoredConversation> change(TenantId tenant, ConversationId id, ObjectNode metadata) {
    return ask(new ChangeConversation(tenant, id, Json.text(metadata)));
  }

  Future<StoredConversation> remove(TenantId tenant, ConversationId id, String item) {
    return ask(new RemoveItem(tenant, id, item));
  }

  Future<Void> delete(TenantId tenant, ConversationId id) {
    return store
        .ask(new DeleteConversation(tenant, id))
        .<Void>mapEmpty()
        .recover(failure -> Future.failedFuture(named(failure, id)));
  }

  /** With its Items. */
  Future<ConversationItems> items(TenantId tenant, ConversationId id) {
    return find(tenant, id)
        .compose(
            conversation ->
                turns(conversation).map(turns -> ConversationItems.of(conversation, turns, json)));
  }

  /**
   * Adds Items, after those that others add at the same moment or before them.
   *
   * @param turn a new id
   */
  Future<StoredConversation> append(
      StoredConversation conversation, ResponseId turn, long createdMillis, ArrayNode items) {
    return ask(
        new AppendItems(
            conversation.id(),
            new StoredTurn(
                turn,
                conversation.tenant(),
                conversation.head(),
                "",
                createdMillis,
                STATUS,
                Json.text(items),
                "[]",
                "",
                Usage.NONE)));
  }

  /** Stores a Response, and adds its Items as well: both or neither. */
  Future<Void> keep(StoredTurn response, ConversationAppend append) {
    return store
        .store(response, append)
        .recover(failure -> Future.failedFuture(named(failure, append.conversation())));
  }

  /** A head that is not there any more is one of a conversation that is not, either. */
  private Future<List<StoredTurn>> turns(StoredConversation conversation) {
    ResponseId head = conversation.head();
    return head == null
        ? Future.succeededFuture(List.of())
        : store
            .history(conversation.tenant(), head)
            .recover(failure -> Future.failedFuture(named(failure, conversation.id())));
  }

  private Future<StoredConversation> ask(ToConversation message) {
    return store
        .<ConversationFound>ask(message)
        .map(ConversationFound::conversation)
        .recover(failure -> Future.failedFuture(named(failure, message.conversation())));
  }

  private Throwable named(Throwable failure, ConversationId id) {
    return failure instanceof MeshException known && known.kind() == FailureKind.NOT_FOUND
        ? notFound(id.value(), param)
        : failure;
  }
}
