package firstlight.edge;

import firstlight.protocol.Addresses;
import firstlight.protocol.AppendItems;
import firstlight.protocol.ConversationAppend;
import firstlight.protocol.ConversationId;
import firstlight.protocol.DeleteTurn;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FeedbackNoted;
import firstlight.protocol.FindConversation;
import firstlight.protocol.FindHistory;
import firstlight.protocol.History;
import firstlight.protocol.MeshException;
import firstlight.protocol.MeshMessage;
import firstlight.protocol.NoteFeedback;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoreTurn;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.ToConversation;
import firstlight.protocol.ToSession;
import firstlight.protocol.TurnDeleted;
import firstlight.protocol.TurnStored;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.ReplyException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Stands at the session verticle's address and keeps turns in memory. */
final class FakeSession {
  private final Map<ResponseId, StoredTurn> turns = new ConcurrentHashMap<>();
  private final FakeConversations conversations = new FakeConversations();
  private final Queue<Runnable> held = new ArrayDeque<>();
  private volatile Mood mood = Mood.WILLING;

  enum Mood {
    WILLING,
    FAILING,
    SILENT,
    /** Does and answers nothing until {@link #release} is called. */
    HOLDING
  }

  FakeSession(EventBus bus) {
    bus.<ToSession>consumer(Addresses.SESSION, this::take);
  }

  void mood(Mood mood) {
    this.mood = mood;
  }

  synchronized int heldAnswers() {
    return held.size();
  }

  synchronized void release() {
    held.forEach(Runnable::run);
    held.clear();
  }

  @Nullable StoredTurn turn(String response) {
    return turns.get(new ResponseId(response));
  }

  void put(StoredTurn turn) {
    turns.put(turn.response(), turn);
  }

  int size() {
    return turns.size();
  }

  private void take(Message<ToSession> message) {
    switch (mood) {
      case SILENT -> {}
      case FAILING ->
          fail(
              message,
              new MeshException(FailureKind.UNAVAILABLE, "storage_unavailable", "No database."));
      case WILLING -> answer(message);
      case HOLDING -> {
        synchronized (this) {
          held.add(() -> answer(message));
        }
      }
    }
  }

  private void answer(Message<ToSession> message) {
    try {
      message.reply(answer(message.body()));
    } catch (MeshException e) {
      fail(message, e);
    }
  }

  private MeshMessage answer(ToSession ask) {
    return switch (ask) {
      case FindHistory find -> new History(history(find.tenant(), find.response()));
      case StoreTurn(StoredTurn turn, ConversationAppend append) -> {
        if (append != null) {
          turns.put(append.turn(), conversations.append(append, turn));
        }
        turns.put(turn.response(), turn);
        yield new TurnStored(turn.response());
      }
      case DeleteTurn delete -> {
        history(delete.tenant(), delete.response());
        turns.remove(delete.response());
        yield new TurnDeleted(delete.response());
      }
      case AppendItems(ConversationId id, StoredTurn items) -> {
        turns.put(items.response(), conversations.append(id, items));
        yield conversations.answer(new FindConversation(items.tenant(), id));
      }
      case NoteFeedback note -> new FeedbackNoted(note.digest(), false);
      case ToConversation about -> conversations.answer(about);
    };
  }

  private List<StoredTurn> history(TenantId tenant, ResponseId response) {
    List<StoredTurn> history = new ArrayList<>();
    StoredTurn turn = turns.get(response);
    if (turn == null || !turn.tenant().equals(tenant)) {
      throw new MeshException(FailureKind.NOT_FOUND, "previous_response_not_found", "No such.");
    }
    while (turn != null) {
      history.addFirst(turn);
      turn = turn.parent() == null ? null : turns.get(turn.parent());
    }
    return history;
  }

  private static void fail(Message<ToSession> message, MeshException failure) {
    ReplyException reply = failure.toReply();
    message.fail(reply.failureCode(), reply.getMessage());
  }
}
