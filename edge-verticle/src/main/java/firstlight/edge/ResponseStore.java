package firstlight.edge;

import firstlight.protocol.Addresses;
import firstlight.protocol.ConversationAppend;
import firstlight.protocol.DeleteTurn;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FindHistory;
import firstlight.protocol.History;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoreTurn;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.ToSession;
import io.vertx.core.Future;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.Message;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Stored Responses, reached over the event bus. All failures are {@link MeshException}s. */
final class ResponseStore {
  private static final long RETRY_MILLIS = 1_000;

  private final EventBus bus;
  private final DeliveryOptions options;

  /**
   * @param timeout how long an answer may take
   */
  ResponseStore(EventBus bus, Duration timeout) {
    this.bus = bus;
    this.options = new DeliveryOptions().setSendTimeout(timeout.toMillis());
  }

  /**
   * The Response and all it builds on, oldest first, so it is the last one.
   *
   * @return fails with NOT_FOUND, also for a Response of another tenant
   */
  Future<List<StoredTurn>> history(TenantId tenant, ResponseId response) {
    MeshException missing = ResponseErrors.previousNotFound(response.value());
    return this.<History>ask(new FindHistory(tenant, response))
        .map(History::turns)
        .compose(
            turns ->
                turns.isEmpty() || !turns.getLast().tenant().equals(tenant)
                    ? Future.<List<StoredTurn>>failedFuture(missing)
                    : Future.succeededFuture(turns))
        .recover(
            failure ->
                Future.failedFuture(
                    ((MeshException) failure).kind() == FailureKind.NOT_FOUND ? missing : failure));
  }

  /**
   * Completes when the turn is durable; fails with UNAVAILABLE, code storage_unavailable.
   *
   * @param append where its Items go as well
   */
  Future<Void> store(StoredTurn turn, @Nullable ConversationAppend append) {
    return ask(new StoreTurn(turn, append))
        .<Void>mapEmpty()
        .recover(failure -> Future.failedFuture(notStored(MeshException.fromReply(failure))));
  }

  /** Fails with NOT_FOUND, also for a Response of another tenant. */
  Future<Void> delete(TenantId tenant, ResponseId response) {
    return ask(new DeleteTurn(tenant, response)).mapEmpty();
  }

  /** What the session verticle answers. */
  <T> Future<T> ask(ToSession message) {
    return bus.<T>request(Addresses.SESSION, message, options)
        .map(Message::body)
        .recover(failure -> Future.failedFuture(MeshException.fromReply(failure)));
  }

  private static MeshException notStored(MeshException failure) {
    if (failure.kind() != FailureKind.UNAVAILABLE && failure.kind() != FailureKind.INTERNAL) {
      return failure;
    }
    return new MeshException(
        FailureKind.UNAVAILABLE,
        "storage_unavailable",
        "The answer could not be stored. Try again, or ask with store: false.",
        null,
        RETRY_MILLIS);
  }
}
