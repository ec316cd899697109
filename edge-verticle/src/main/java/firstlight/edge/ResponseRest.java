package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.TenantId;
import io.vertx.core.AsyncResult;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tells the events of a Response after a number once more, wherever it runs, or after its end: as
 * fast as the listener takes them, the live ones as soon as they are there. Nothing is kept for a
 * listener that pauses; it gets what it missed when it goes on.
 */
final class ResponseRest implements TurnHandle {
  private static final Set<String> LAST =
      Set.of("response.completed", "response.incomplete", "response.failed");

  private final ResponseParts responses;
  private final ResponseBackground background;
  private final TenantId tenant;
  private final ResponseId response;
  private final Listener listener;
  private long after;
  private @Nullable ResponseReplay replay;
  private boolean stored;
  private boolean begun;
  private boolean asking;
  private boolean paused;
  private boolean over;

  /** Hears of it, on the verticle's event loop. */
  interface Listener {
    /** The next events; none: the Response has begun, and there are none yet. */
    void events(List<ObjectNode> events);

    /** All events were told. */
    void done();

    /**
     * Nothing more can be told.
     *
     * @param begun whether there were events, perhaps none; the last one then told the failure
     */
    void failed(MeshException failure, boolean begun);
  }

  /**
   * @param after events up to this number are left out
   */
  ResponseRest(
      ResponseParts responses,
      ResponseBackground background,
      TenantId tenant,
      ResponseId response,
      long after,
      Listener listener) {
    this.responses = responses;
    this.background = background;
    this.tenant = tenant;
    this.response = response;
    this.after = after;
    this.listener = listener;
  }

  /** Tells what can be told. */
  void next() {
    while (replay != null && !paused && !over) {
      Optional<List<ObjectNode>> events = replay.next();
      if (events.isPresent()) {
        tell(events.get());
      } else if (stored) {
        end();
      } else {
        replay = null;
      }
    }
    if (replay == null && !paused && !over && !asking) {
      asking = true;
      background.events(tenant, response, after).onComplete(this::heard);
    }
  }

  @Override
  public void pause() {
    paused = true;
  }

  @Override
  public void resume() {
    paused = false;
    next();
  }

  @Override
  public void cancel() {
    over = true;
  }

  private void heard(AsyncResult<Optional<ResponseTail.Piece>> result) {
    asking = false;
    if (over) {
      return;
    }
    if (result.failed()) {
      fail(result.cause());
    } else if (result.result().isEmpty()) {
      lookInStore();
    } else {
      take(result.result().get());
    }
  }

  private void take(ResponseTail.Piece piece) {
    if (piece.begun() && !begun) {
      begun = true;
      listener.events(List.of());
    }
    if (piece.soFar() != null) {
      replay = ResponseReplay.of(piece.soFar());
    }
    tell(piece.events());
    if (piece.over() && !over) {
      end();
    }
    next();
  }

  /** It does not run, or not any more. */
  private void lookInStore() {
    asking = true;
    responses
        .store()
        .history(tenant, response)
        .map(
            turns ->
                ResponseReplay.of(
                    responses.edge().json(), StoredResponses.response(turns.getLast())))
        .onComplete(
            found -> {
              asking = false;
              if (over) {
                return;
              }
              if (found.failed()) {
                fail(found.cause());
              } else {
                begun = true;
                stored = true;
                replay = found.result();
                next();
              }
            });
  }

  private void tell(List<ObjectNode> events) {
    List<ObjectNode> next =
        events.stream().filter(event -> ResponseTail.number(event) > after).toList();
    if (next.isEmpty() || over) {
      return;
    }
    ObjectNode last = next.getLast();
    after = ResponseTail.number(last);
    listener.events(next);
    if (LAST.contains(last.get("type").textValue()) && !over) {
      end();
    }
  }

  private void end() {
    over = true;
    listener.done();
  }

  private void fail(Throwable failure) {
    over = true;
    MeshException told = Errors.tellable(failure);
    if (told.kind() == FailureKind.NOT_FOUND) {
      told = begun ? lost() : ResponseErrors.responseNotFound(response.value());
    }
    if (begun) {
      listener.events(List.of(ResponseErrors.event(after + 1, told)));
    }
    listener.failed(told, begun);
  }

  private MeshException lost() {
    return new MeshException(
        FailureKind.UNAVAILABLE,
        "response_lost",
        "The server that made the response '%s' is gone. Ask again for a new one."
            .formatted(response));
  }
}
