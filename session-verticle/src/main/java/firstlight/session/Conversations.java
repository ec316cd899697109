package firstlight.session;

import firstlight.protocol.AppendItems;
import firstlight.protocol.ChangeConversation;
import firstlight.protocol.ConversationAppend;
import firstlight.protocol.ConversationDeleted;
import firstlight.protocol.ConversationFound;
import firstlight.protocol.CreateConversation;
import firstlight.protocol.DeleteConversation;
import firstlight.protocol.FindConversation;
import firstlight.protocol.FromSession;
import firstlight.protocol.RemoveItem;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.ToConversation;
import io.vertx.core.Future;
import java.util.List;
import java.util.function.Consumer;

/**
 * Answers what is asked about conversations. Their heads are read from the durable tier each time,
 * so whoever adds Items is seen by all at once; what lies below a head never changes and is found
 * by {@link Histories}. Belongs to one event loop.
 */
final class Conversations {
  private final PostgresConversationStore store;
  private final Histories histories;
  private final Consumer<TurnKey> forgotten;

  /**
   * @param forgotten tells everybody that a turn was deleted
   */
  Conversations(PostgresConversationStore store, Histories histories, Consumer<TurnKey> forgotten) {
    this.store = store;
    this.histories = histories;
    this.forgotten = forgotten;
  }

  Future<? extends FromSession> reply(ToConversation message) {
    return switch (message) {
      case CreateConversation ask -> store.create(ask).map(ConversationFound::new);
      case FindConversation ask ->
          store.find(ask.tenant(), ask.conversation()).map(ConversationFound::new);
      case ChangeConversation ask -> store.change(ask).map(ConversationFound::new);
      case AppendItems ask -> append(ask);
      case RemoveItem ask -> store.remove(ask).map(ConversationFound::new);
      case DeleteConversation ask -> delete(ask);
    };
  }

  /** Succeeds once the Response is durable and its Items are in the conversation. */
  Future<Void> store(StoredTurn turn, ConversationAppend append) {
    return store.keep(turn, append).map(this::offer);
  }

  private Future<ConversationFound> append(AppendItems ask) {
    return store
        .append(ask)
        .map(this::offer)
        .compose(_ -> store.find(ask.tenant(), ask.conversation()))
        .map(ConversationFound::new);
  }

  private Void offer(List<StoredTurn> turns) {
    histories.stored(turns);
    return null;
  }

  /** As with turns, the caches come first, so that they cannot bring back what is gone. */
  private Future<ConversationDeleted> delete(DeleteConversation ask) {
    return store
        .find(ask.tenant(), ask.conversation())
        .compose(_ -> store.turns(ask.tenant(), ask.conversation()))
        .compose(
            turns ->
                forgetInCaches(turns)
                    .compose(_ -> store.delete(ask.tenant(), ask.conversation()))
                    .map(
                        _ -> {
                          turns.forEach(forgotten);
                          histories.detachLookups();
                          return new ConversationDeleted(ask.conversation());
                        }));
  }

  private Future<Void> forgetInCaches(List<TurnKey> turns) {
    Future<Void> done = Future.succeededFuture();
    for (TurnKey turn : turns) {
      done = done.compose(_ -> histories.forgetInCaches(turn));
    }
    return done;
  }
}
