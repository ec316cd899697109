package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.ServerWebSocket;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * One client's WebSocket: its messages become Responses, one after another, whose events go back. A
 * message may also ask for the rest of the events of a Response that was made elsewhere.
 *
 * <p>At most one Response is worked on or told again; a few more requests wait. When the connection
 * is gone, for whatever reason, the running turn is cancelled at once and the waiting ones are
 * forgotten.
 */
final class WebSocketConnection implements WebSocketLine.Listener, ResponseRun.Listener {
  /** A message longer than this is read on a worker thread. */
  private static final int LARGE_BYTES = 64 << 10;

  private static final short NORMAL = 1000;
  private static final String CREATE = "response.create";
  private static final String RESUME = "response.resume";
  private static final String FEEDBACK = "feedback.create";

  private final EdgeParts parts;
  private final ResponseParts responses;
  private final ResponseBackground background;
  private final WebSocketLimits limits;
  private final Caller caller;
  private final Runnable whenClosed;
  private final WebSocketLine line;
  private final WebSocketMemory memory;
  private final long lifeTimer;
  private final Queue<Waiting> waiting = new ArrayDeque<>();
  private int waitingBytes;
  private int judging;
  private @Nullable TurnHandle running;
  private @Nullable String runningOn;
  private boolean closed;

  private record Waiting(ObjectNode body, int bytes) {}

  /**
   * Fails when the client has gone already; {@code whenClosed} then hears nothing.
   *
   * @param whenClosed is told once
   */
  WebSocketConnection(
      ResponseParts responses,
      ResponseBackground background,
      Caller caller,
      HttpConnection connection,
      ServerWebSocket socket,
      Runnable whenClosed) {
    this.parts = responses.edge();
    this.responses = responses;
    this.background = background;
    this.limits = responses.webSockets();
    this.caller = caller;
    this.whenClosed = whenClosed;
    this.memory = new WebSocketMemory(limits.rememberedCharactersMax());
    this.line = new WebSocketLine(parts.vertx(), parts.time(), limits, connection, socket, this);
    this.lifeTimer = parts.vertx().setTimer(limits.life().toMillis(), _ -> expire());
  }

  @Override
  public void message(Buffer text) {
    if (text.length() <= LARGE_BYTES) {
      try {
        take(parts.json().object(text), text.length());
      } catch (RuntimeException e) {
        refuse(e);
      }
      return;
    }
    line.hold(true);
    parts
        .vertx()
        .executeBlocking(() -> parts.json().object(text))
        .onComplete(
            read -> {
              line.hold(false);
              if (read.failed()) {
                refuse(read.cause());
              } else {
                take(read.result(), text.length());
              }
            });
  }

  @Override
  public void full() {
    if (running != null) {
      running.pause();
    }
  }

  @Override
  public void drained() {
    if (running != null) {
      running.resume();
    }
  }

  @Override
  public void closed() {
    closed = true;
    parts.vertx().cancelTimer(lifeTimer);
    waiting.clear();
    if (running != null) {
      running.cancel();
      running = null;
    }
    whenClosed.run();
  }

  @Override
  public void events(List<ObjectNode> events) {
    events.forEach(line::send);
  }

  @Override
  public void ended(ObjectNode response, ResponseHistory history) {
    memory.keep(history);
    next();
  }

  @Override
  public void failed(MeshException failure, boolean started) {
    memory.evict(runningOn);
    if (!started) {
      refuse(failure);
    }
    next();
  }

  private void take(ObjectNode body, int bytes) {
    if (closed) {
      return;
    }
    String type = body.path("type").asText();
    switch (type) {
      case CREATE, RESUME -> {
        if (running == null) {
          start(body);
        } else if (waiting.size() < limits.waitingMax()
            && waitingBytes + bytes <= limits.messageBytesMax()) {
          waiting.add(new Waiting(body, bytes));
          waitingBytes += bytes;
        } else {
          refuseWaiting();
        }
      }
      case FEEDBACK -> judge(body);
      // Some clients say that they have seen a Response; nothing follows from it.
      case "response.processed" -> {}
      default ->
          refuse(
              MeshException.invalid(
                  "type must be %s, %s or %s, not %s."
                      .formatted(CREATE, RESUME, FEEDBACK, EdgeModels.shown(type)),
                  "type"));
    }
  }

  /** A feedback waits for no Response; it is answered when it is durable. */
  private void judge(ObjectNode body) {
    if (judging >= limits.waitingMax()) {
      refuseWaiting();
      return;
    }
    judging++;
    body.remove("type");
    parts
        .feedbacks()
        .take(caller.tenant(), body)
        .onComplete(
            taken -> {
              judging--;
              if (closed) {
                return;
              }
              if (taken.failed()) {
                refuse(taken.cause());
              } else {
                line.send(taken.result().json().put("type", "feedback.accepted"));
              }
            });
  }

  private void start(ObjectNode body) {
    boolean resumes = body.path("type").asText().equals(RESUME);
    runningOn = resumes ? null : body.path("previous_response_id").textValue();
    try {
      if (resumes) {
        resume(new Fields(body));
      } else {
        create(body);
      }
    } catch (RuntimeException e) {
      failed(Errors.tellable(e), false);
    }
  }

  private void create(ObjectNode body) {
    ResponseRequest request = responses.reader().read(body, ResponsesReader.Transport.WEB_SOCKET);
    ResponseRun run = new ResponseRun(responses, caller, request, this);
    begin(run);
    run.start(memory.of(runningOn));
  }

  private void resume(Fields body) {
    String id = body.requiredText("response_id");
    int after = body.integer("starting_after", 0, Integer.MAX_VALUE).orElse(-1);
    ResponseId response = ResponseErrors.id(id, ResponseErrors.responseNotFound(id));
    ResponseRest rest =
        new ResponseRest(
            responses, background, caller.tenant(), response, after, new Resumed(after));
    begin(rest);
    rest.next();
  }

  private void begin(TurnHandle turn) {
    running = turn;
    if (line.isFull()) {
      turn.pause();
    }
  }

  private void next() {
    running = null;
    Waiting following = waiting.poll();
    if (following != null) {
      waitingBytes -= following.bytes();
      start(following.body());
    }
  }

  private void refuse(Throwable failure) {
    line.send(ResponseErrors.frame(Errors.tellable(failure)));
  }

  private void expire() {
    refuse(
        new MeshException(
            FailureKind.INVALID_REQUEST,
            "websocket_connection_limit_reached",
            "A connection lasts %d minutes at most. Open another one to go on."
                .formatted(limits.life().toMinutes())));
    line.close(NORMAL, "connection limit reached");
  }

  private void refuseWaiting() {
    MeshException failure = tooManyWaiting();
    parts
        .failures()
        .seen(caller.tenant(), FailureFacts.Failed.before(caller, "responses", "", ""), failure);
    refuse(failure);
  }

  private MeshException tooManyWaiting() {
    return new MeshException(
        FailureKind.TENANT_LIMIT,
        "too_many_waiting",
        "At most %d requests wait on a connection. Send the next one when a response has ended."
            .formatted(limits.waitingMax()));
  }

  /** Sends the rest of a Response. */
  private final class Resumed implements ResponseRest.Listener {
    private final int after;
    private boolean silent = true;

    private Resumed(int after) {
      this.after = after;
    }

    @Override
    public void events(List<ObjectNode> events) {
      silent &= events.isEmpty();
      WebSocketConnection.this.events(events);
    }

    @Override
    public void done() {
      // There is no end mark here, and nobody should wait for an event that does not come.
      if (silent) {
        refuse(
            MeshException.invalid(
                "starting_after is %d, and the response has no event after it.".formatted(after),
                "starting_after"));
      }
      next();
    }

    @Override
    public void failed(MeshException failure, boolean begun) {
      WebSocketConnection.this.failed(failure, begun);
    }
  }
}
