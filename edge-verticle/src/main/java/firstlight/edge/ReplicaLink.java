package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.InferenceFrames;
import firstlight.protocol.MeshException;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.wire.Cancel;
import firstlight.protocol.wire.Credit;
import firstlight.protocol.wire.EdgeFrame;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Ending;
import firstlight.protocol.wire.Hello;
import firstlight.protocol.wire.InferenceGrpcClient;
import firstlight.protocol.wire.Refusal;
import firstlight.protocol.wire.ReplicaFrame;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.streams.ReadStream;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one stream between this edge and a replica. It is opened at once and again, ever more slowly,
 * whenever it breaks; a break fails the generations on it, at once. Frames sent before it is open
 * wait in {@code early}, which is as long as the generations on it are many.
 */
final class ReplicaLink {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaLink.class);
  private static final long CONNECT_MILLIS_MAX = 2_000;
  private static final long RETRY_MILLIS_MIN = 100;
  private static final long RETRY_MILLIS_MAX = 2_000;

  private final Vertx vertx;
  private final GrpcClient client;
  private final ReplicaReport replica;
  private final String edge;
  private final Map<String, GenerationListener> generations = new LinkedHashMap<>();
  private final List<EdgeFrame> early = new ArrayList<>();
  private State state = State.CONNECTING;
  private @Nullable GrpcClientRequest<EdgeFrame, ReplicaFrame> stream;
  private int attempt;
  private long retryMillis = RETRY_MILLIS_MIN;

  private enum State {
    CONNECTING,
    OPEN,
    BROKEN,
    CLOSED
  }

  /**
   * Begins to connect.
   *
   * @param edge names this edge instance to the replica
   */
  ReplicaLink(Vertx vertx, GrpcClient client, ReplicaReport replica, String edge) {
    this.vertx = vertx;
    this.client = client;
    this.replica = replica;
    this.edge = edge;
    connect();
  }

  /** Whether submissions are taken right now. */
  boolean usable() {
    return state == State.OPEN || state == State.CONNECTING;
  }

  /** Whether the replica is still at the same place. */
  boolean leadsTo(ReplicaReport report) {
    return replica.host().equals(report.host()) && replica.port() == report.port();
  }

  /**
   * @param credit tokens that the replica may send before more are allowed
   * @param listener is told of a refusal at once when the link is broken
   */
  void submit(GenerationSpec spec, int credit, GenerationListener listener) {
    if (!usable()) {
      listener.refused(lost());
      return;
    }
    generations.put(spec.id().value(), listener);
    send(EdgeFrame.newBuilder().setSubmit(InferenceFrames.submit(spec, credit)).build());
  }

  /** Stops a generation; its listener still hears of its ending. */
  void cancel(GenerationId generation) {
    if (generations.containsKey(generation.value())) {
      send(
          EdgeFrame.newBuilder()
              .setCancel(Cancel.newBuilder().setGeneration(generation.value()))
              .build());
    }
  }

  /** Forgets a generation: nothing more is heard of it. */
  void forget(GenerationId generation) {
    generations.remove(generation.value());
  }

  void credit(GenerationId generation, int tokens) {
    if (generations.containsKey(generation.value())) {
      send(
          EdgeFrame.newBuilder()
              .setCredit(Credit.newBuilder().setGeneration(generation.value()).setTokens(tokens))
              .build());
    }
  }

  /** The replica is gone, or the edge stops: nothing is tried any more. */
  void close() {
    if (state != State.CLOSED) {
      state = State.CLOSED;
      drop();
    }
  }

  private void connect() {
    state = State.CONNECTING;
    int mine = ++attempt;
    vertx.setTimer(
        CONNECT_MILLIS_MAX,
        _ -> {
          if (mine == attempt && state == State.CONNECTING) {
            broken(mine, "it does not answer");
          }
        });
    SocketAddress address = SocketAddress.inetSocketAddress(replica.port(), replica.host());
    client
        .request(address, InferenceGrpcClient.Attach)
        .onSuccess(request -> opened(mine, request))
        .onFailure(failure -> broken(mine, failure.toString()));
  }

  private void opened(int mine, GrpcClientRequest<EdgeFrame, ReplicaFrame> request) {
    if (mine != attempt || state != State.CONNECTING) {
      request.cancel();
      return;
    }
    stream = request;
    state = State.OPEN;
    request.exceptionHandler(failure -> broken(mine, failure.toString()));
    request
        .response()
        .onSuccess(answer -> listen(mine, answer))
        .onFailure(failure -> broken(mine, failure.toString()));
    request.write(EdgeFrame.newBuilder().setHello(Hello.newBuilder().setEdge(edge)).build());
    early.forEach(request::write);
    early.clear();
  }

  private void listen(int mine, ReadStream<ReplicaFrame> answer) {
    answer.exceptionHandler(failure -> broken(mine, failure.toString()));
    answer.endHandler(_ -> broken(mine, "it ended the stream"));
    answer.handler(
        frame -> {
          if (mine == attempt && state == State.OPEN) {
            retryMillis = RETRY_MILLIS_MIN;
            deliver(frame);
          }
        });
  }

  private void deliver(ReplicaFrame frame) {
    for (Emission emission : frame.getEmissionsList()) {
      GenerationListener listener = generations.get(emission.getGeneration());
      if (listener != null) {
        listener.emitted(emission);
      }
    }
    for (Ending ending : frame.getEndingsList()) {
      GenerationListener listener = generations.remove(ending.getGeneration());
      if (listener != null) {
        listener.ended(ending);
      }
    }
    for (Refusal refusal : frame.getRefusalsList()) {
      GenerationListener listener = generations.remove(refusal.getGeneration());
      if (listener != null) {
        listener.refused(failure(refusal));
      }
    }
  }

  private void send(EdgeFrame frame) {
    if (stream != null && state == State.OPEN) {
      stream.write(frame);
    } else {
      early.add(frame);
    }
  }

  private void broken(int mine, String why) {
    if (mine != attempt || state == State.BROKEN || state == State.CLOSED) {
      return;
    }
    LOG.warn(
        "the link to replica {} at {}:{} broke: {}",
        replica.replica(),
        replica.host(),
        replica.port(),
        why);
    state = State.BROKEN;
    long wait = retryMillis;
    retryMillis = Math.min(RETRY_MILLIS_MAX, 2 * retryMillis);
    vertx.setTimer(
        wait,
        _ -> {
          if (state == State.BROKEN) {
            connect();
          }
        });
    drop();
  }

  private void drop() {
    early.clear();
    if (stream != null) {
      stream.cancel();
      stream = null;
    }
    List<GenerationListener> failed = List.copyOf(generations.values());
    generations.clear();
    failed.forEach(listener -> listener.refused(lost()));
  }

  private static MeshException failure(Refusal refusal) {
    FailureKind kind;
    try {
      kind = FailureKind.valueOf(refusal.getKind());
    } catch (IllegalArgumentException e) {
      kind = FailureKind.INTERNAL;
    }
    return new MeshException(
        kind, refusal.getCode(), refusal.getMessage(), null, refusal.getRetryAfterMs());
  }

  private static MeshException lost() {
    return new MeshException(
        FailureKind.DEVICE_LOST,
        "replica_lost",
        "The replica that was at work on this has been lost. Try again.",
        null,
        1_000);
  }
}
