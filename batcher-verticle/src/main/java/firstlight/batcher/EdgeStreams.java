package firstlight.batcher;

import firstlight.batcher.Outcome.Emitted;
import firstlight.protocol.FailureKind;
import firstlight.protocol.GenerationId;
import firstlight.protocol.MeshException;
import firstlight.protocol.wire.EdgeFrame;
import firstlight.protocol.wire.ReplicaFrame;
import io.vertx.core.Future;
import io.vertx.grpc.common.GrpcStatus;
import io.vertx.grpc.server.GrpcServerRequest;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All edges attached, and which of them each generation is for. */
final class EdgeStreams {
  private final BatcherConfig config;
  private final Set<EdgeStream> streams = new LinkedHashSet<>();
  private final Map<GenerationId, EdgeStream> owners = new HashMap<>();
  private @Nullable SubmissionRules rules;

  EdgeStreams(BatcherConfig config) {
    this.config = config;
  }

  /** From now on submissions are taken; null: they are refused. */
  void rules(@Nullable SubmissionRules now) {
    rules = now;
  }

  /**
   * @throws MeshException when nothing is taken at the moment
   */
  SubmissionRules rules() {
    SubmissionRules now = rules;
    if (now == null) {
      throw ReplicaLoop.noDevice();
    }
    return now;
  }

  void attach(GrpcServerRequest<EdgeFrame, ReplicaFrame> request, ReplicaLoop loop) {
    if (streams.size() >= config.edgesMax()) {
      request.response().status(GrpcStatus.RESOURCE_EXHAUSTED).end();
      return;
    }
    streams.add(new EdgeStream(config, this, loop, request));
  }

  /** One frame for each edge, or more where one would be too large. */
  void deliver(long step, List<Outcome> outcomes) {
    Map<EdgeStream, Frames> frames = new LinkedHashMap<>();
    for (Outcome outcome : outcomes) {
      EdgeStream owner = owners.get(outcome.generation());
      if (owner != null) {
        frames.computeIfAbsent(owner, _ -> new Frames(step, config.frameBytesMax())).add(outcome);
        if (!(outcome instanceof Emitted)) {
          owner.forget(outcome.generation());
        }
      }
    }
    frames.forEach((stream, packed) -> stream.write(packed.build()));
  }

  /** False when the generation is another stream's. */
  boolean own(GenerationId generation, EdgeStream stream) {
    return owners.putIfAbsent(generation, stream) == null;
  }

  void disown(GenerationId generation) {
    owners.remove(generation);
  }

  void detached(EdgeStream stream) {
    streams.remove(stream);
  }

  /** Ends all streams once what was written has gone out. */
  Future<?> close() {
    return Future.join(List.copyOf(streams).stream().map(EdgeStream::close).toList());
  }

  static MeshException stopping() {
    return new MeshException(
        FailureKind.UNAVAILABLE,
        "replica_stopping",
        "This replica is being stopped. Send the request again.",
        null,
        1_000);
  }
}
