package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The events of a Response that runs, for those who read them beside its own client. They ask for
 * what comes after a number, again and again, as fast as they can send: so nothing is kept for a
 * slow one. The latest events are here; who is further behind gets the Response so far, out of
 * which the earlier ones can be made again. Belongs to one event loop.
 */
final class ResponseTail {
  /** How many events are kept. */
  static final int EVENTS_MAX = 256;

  /** How many may wait for the next event. */
  static final int READERS_MAX = 16;

  private static final long WAIT_MILLIS = 2_000;
  private static final long RETRY_MILLIS = 1_000;

  private final Vertx vertx;
  private final Supplier<ResponseSoFar> soFar;
  private final Deque<ObjectNode> latest = new ArrayDeque<>();
  private final List<Waiting> waiting = new ArrayList<>();
  private boolean wasRead;
  private boolean over;
  private @Nullable MeshException failure;

  /**
   * What a reader gets.
   *
   * @param begun whether the Response has
   * @param events the next ones; none: there were none for a while
   * @param soFar instead of events, for a reader far behind
   * @param over whether these are all
   */
  record Piece(
      boolean begun, List<ObjectNode> events, @Nullable ResponseSoFar soFar, boolean over) {
    private static final String BEGUN = "begun";
    private static final String EVENTS = "events";
    private static final String SO_FAR = "so_far";
    private static final String OVER = "over";

    Piece {
      events = List.copyOf(events);
    }

    /** The form in which it crosses the event bus. */
    String text() {
      ObjectNode json = Json.object().put(BEGUN, begun).put(OVER, over);
      json.putArray(EVENTS).addAll(events);
      if (soFar != null) {
        json.set(SO_FAR, soFar.json());
      }
      return Json.text(json);
    }

    static Piece of(String text) {
      ObjectNode json = Json.own(text);
      List<ObjectNode> events = new ArrayList<>();
      json.get(EVENTS).forEach(event -> events.add((ObjectNode) event));
      return new Piece(
          json.get(BEGUN).booleanValue(),
          events,
          json.has(SO_FAR) ? ResponseSoFar.of(json.get(SO_FAR)) : null,
          json.get(OVER).booleanValue());
    }
  }

  private record Waiting(long after, Promise<Piece> promise) {}

  /**
   * @param soFar the Response as it is when it is asked
   */
  ResponseTail(Vertx vertx, Supplier<ResponseSoFar> soFar) {
    this.vertx = vertx;
    this.soFar = soFar;
  }

  /** The next events of the Response. */
  void add(List<ObjectNode> events) {
    for (ObjectNode event : events) {
      latest.add(event);
      if (latest.size() > EVENTS_MAX) {
        latest.remove();
      }
    }
    tellWaiting();
  }

  /**
   * No more events come.
   *
   * @param failure for those who wait for the first event, when there was none
   */
  void end(@Nullable MeshException failure) {
    this.over = true;
    this.failure = failure;
    tellWaiting();
  }

  /** Whether anybody has asked for events. */
  boolean wasRead() {
    return wasRead;
  }

  /**
   * Events after a number; where there are none yet, those that come within a short time.
   *
   * @return fails with what the Response failed with if it never began, and with TENANT_LIMIT when
   *     too many wait
   */
  Future<Piece> after(long number) {
    wasRead = true;
    Future<Piece> ready = ready(number);
    if (ready != null) {
      return ready;
    }
    if (waiting.size() >= READERS_MAX) {
      return Future.failedFuture(
          new MeshException(
              FailureKind.TENANT_LIMIT,
              "readers_exceeded",
              "At most %d read a running response at once. Try again.".formatted(READERS_MAX),
              null,
              RETRY_MILLIS));
    }
    Waiting one = new Waiting(number, Promise.promise());
    waiting.add(one);
    long timer =
        vertx.setTimer(
            WAIT_MILLIS,
            _ -> {
              if (waiting.remove(one)) {
                one.promise().complete(piece(List.of()));
              }
            });
    return one.promise().future().onComplete(_ -> vertx.cancelTimer(timer));
  }

  /** Null: there is nothing to tell yet. */
  private @Nullable Future<Piece> ready(long after) {
    Piece now = now(after);
    if (now != null) {
      return Future.succeededFuture(now);
    }
    if (!over) {
      return null;
    }
    return failure == null
        ? Future.succeededFuture(piece(List.of()))
        : Future.failedFuture(failure);
  }

  private @Nullable Piece now(long after) {
    if (latest.isEmpty() || number(latest.getLast()) <= after) {
      return null;
    }
    if (number(latest.getFirst()) > after + 1) {
      return new Piece(true, List.of(), soFar.get(), false);
    }
    return piece(latest.stream().filter(event -> number(event) > after).toList());
  }

  private Piece piece(List<ObjectNode> events) {
    return new Piece(!latest.isEmpty(), events, null, over);
  }

  private void tellWaiting() {
    for (Waiting one : List.copyOf(waiting)) {
      Future<Piece> ready = ready(one.after());
      if (ready != null) {
        waiting.remove(one);
        ready.onComplete(one.promise());
      }
    }
  }

  static long number(ObjectNode event) {
    return event.get("sequence_number").longValue();
  }
}
