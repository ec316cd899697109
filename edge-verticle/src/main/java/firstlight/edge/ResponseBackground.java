package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.TenantId;
import io.vertx.core.Future;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Responses that run on without their clients. Each is known at an address of its own on the event
 * bus while it runs, so that every edge can show or cancel it, and at another one its events can be
 * read; once it has ended it is in the store, whatever its end, and then at its address no more.
 * Only the last events stay a little longer, for those who were reading them.
 */
final class ResponseBackground {
  private static final int TENANT_MAX = 16;
  private static final String ADDRESS = "firstlight.response.";

  /** Followed by the id: who makes the events. */
  static final String EVENTS_ADDRESS = "firstlight.response-events.";

  private static final long LAST_EVENTS_MILLIS = 10_000;
  private static final String TENANT = "tenant";
  private static final long RETRY_MILLIS = 1_000;
  private static final Duration ANSWER_MAX = Duration.ofSeconds(5);

  private final ResponseParts responses;
  private final EventBus bus;
  private final Map<TenantId, Integer> running = new HashMap<>();

  /** What can be asked of a running Response. */
  private enum Ask {
    STATE,
    CANCEL
  }

  ResponseBackground(ResponseParts responses) {
    this.responses = responses;
    this.bus = responses.edge().vertx().eventBus();
  }

  /**
   * Begins a Response.
   *
   * @param reader gets its events as long as it stays; null: nobody does
   * @return the Response as it is then; fails when there is no such model, or too many run
   */
  Future<ObjectNode> start(
      Caller caller, ResponseRequest request, ResponseAnswer.@Nullable Streamed reader) {
    try {
      responses.edge().models().find(request.model());
    } catch (MeshException e) {
      return Future.failedFuture(e);
    }
    int others = running.getOrDefault(caller.tenant(), 0);
    if (others >= TENANT_MAX) {
      return Future.failedFuture(
          new MeshException(
              FailureKind.TENANT_LIMIT,
              "background_exceeded",
              "There are %d responses in the background, which is the most. Try again."
                  .formatted(others),
              "background",
              RETRY_MILLIS));
    }
    running.put(caller.tenant(), others + 1);
    return new Job(caller, request, reader).start();
  }

  /** The state of a running Response; empty where it does not run. */
  Future<Optional<ObjectNode>> state(TenantId tenant, ResponseId response) {
    return ask(tenant, response, Ask.STATE);
  }

  /**
   * Ends a running Response as cancelled, and gives its last state; empty where it does not run.
   */
  Future<Optional<ObjectNode>> cancel(TenantId tenant, ResponseId response) {
    return ask(tenant, response, Ask.CANCEL);
  }

  /**
   * Events of a running Response after a number, as {@link ResponseTail#after}; empty where it does
   * not run.
   */
  Future<Optional<ResponseTail.Piece>> events(TenantId tenant, ResponseId response, long after) {
    return request(EVENTS_ADDRESS + response.value(), tenant, String.valueOf(after))
        .map(text -> text.map(ResponseTail.Piece::of));
  }

  private Future<Optional<ObjectNode>> ask(TenantId tenant, ResponseId response, Ask ask) {
    return request(ADDRESS + response.value(), tenant, ask.name()).map(text -> text.map(Json::own));
  }

  private Future<Optional<String>> request(String address, TenantId tenant, String body) {
    DeliveryOptions options =
        new DeliveryOptions()
            .addHeader(TENANT, tenant.value())
            .setSendTimeout(ANSWER_MAX.toMillis());
    return bus.<String>request(address, body, options)
        .map(reply -> Optional.of(reply.body()))
        .recover(
            failure ->
                failure instanceof ReplyException reply
                        && reply.failureType() == ReplyFailure.NO_HANDLERS
                    ? Future.succeededFuture(Optional.empty())
                    : Future.failedFuture(MeshException.fromReply(failure)));
  }

  /** One of them. */
  private final class Job implements ResponseRun.Listener, TurnHandle {
    private final Caller caller;
    private final ResponseRequest request;
    private final ResponseRun run;
    private final ResponseTail tail;
    private final MessageConsumer<String> consumer;
    private final MessageConsumer<String> eventsConsumer;
    private ResponseAnswer.@Nullable Streamed reader;
    private boolean over;

    private Job(Caller caller, ResponseRequest request, ResponseAnswer.@Nullable Streamed reader) {
      this.caller = caller;
      this.request = request;
      this.reader = reader;
      this.run = new ResponseRun(responses, caller, request, this);
      this.tail = new ResponseTail(responses.edge().vertx(), run::soFar);
      this.consumer = bus.consumer(ADDRESS + request.id().value(), this::asked);
      this.eventsConsumer = bus.consumer(EVENTS_ADDRESS + request.id().value(), this::read);
    }

    private Future<ObjectNode> start() {
      if (reader != null) {
        reader.steer(this);
      }
      return consumer
          .completion()
          .compose(_ -> eventsConsumer.completion())
          .map(
              _ -> {
                ObjectNode queued = run.state();
                run.start(null);
                return queued;
              })
          .onFailure(_ -> end(null));
    }

    private void asked(Message<String> message) {
      answer(
          message,
          () ->
              message.body().equals(Ask.CANCEL.name())
                  ? run.stop().map(Json::text)
                  : Future.succeededFuture(Json.text(run.state())));
    }

    private void read(Message<String> message) {
      answer(
          message, () -> tail.after(Long.parseLong(message.body())).map(ResponseTail.Piece::text));
    }

    private void answer(Message<String> message, Supplier<Future<String>> answer) {
      boolean own = caller.tenant().value().equals(message.headers().get(TENANT));
      Future<String> answered =
          own
              ? answer.get()
              : Future.failedFuture(ResponseErrors.responseNotFound(request.id().value()));
      answered
          .onSuccess(message::reply)
          .onFailure(
              failure -> {
                ReplyException reply = Errors.tellable(failure).toReply();
                message.fail(reply.failureCode(), reply.getMessage());
              });
    }

    @Override
    public void events(List<ObjectNode> events) {
      tail.add(events);
      if (reader != null) {
        reader.events(events);
      }
    }

    @Override
    public void ended(ObjectNode response, ResponseHistory history) {
      if (reader != null) {
        reader.ended(response, history);
      }
      end(null);
    }

    @Override
    public void failed(MeshException failure, boolean started) {
      if (reader != null) {
        reader.failed(failure, started);
      }
      end(started ? null : failure);
    }

    @Override
    public void pause() {
      run.pause();
    }

    @Override
    public void resume() {
      run.resume();
    }

    /** The reader has left, which the Response does not. */
    @Override
    public void cancel() {
      reader = null;
      run.resume();
    }

    private void end(@Nullable MeshException failure) {
      if (!over) {
        over = true;
        tail.end(failure);
        running.computeIfPresent(
            caller.tenant(), (_, jobs) -> jobs == 1 ? null : Integer.valueOf(jobs - 1));
        consumer.unregister();
        if (tail.wasRead()) {
          responses.edge().vertx().setTimer(LAST_EVENTS_MILLIS, _ -> eventsConsumer.unregister());
        } else {
          eventsConsumer.unregister();
        }
      }
    }
  }
}
