package firstlight.batcher;

import firstlight.protocol.FailureKind;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.wire.Cancel;
import firstlight.protocol.wire.Credit;
import firstlight.protocol.wire.EdgeFrame;
import firstlight.protocol.wire.ReplicaFrame;
import firstlight.protocol.wire.Submit;
import io.vertx.core.Future;
import io.vertx.grpc.server.GrpcServerRequest;
import io.vertx.grpc.server.GrpcServerResponse;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One edge, attached. Its frames come in and go out here, and its generations end with it.
 *
 * <p>An edge that does not read owes bytes. From {@code edgeOwedBytesMax} on its generations are
 * held, so that no more come; when it has read half of them they go on; when it owes twice as many,
 * which only refusals can bring about, the stream is cut.
 */
final class EdgeStream {
  private static final Logger LOG = LoggerFactory.getLogger(EdgeStream.class);

  /** As long as an id can be. */
  private static final int NAME_LENGTH_MAX = 128;

  private final BatcherConfig config;
  private final EdgeStreams all;
  private final ReplicaLoop loop;
  private final GrpcServerResponse<EdgeFrame, ReplicaFrame> response;
  private final Set<GenerationId> generations = new LinkedHashSet<>();
  private String edge = "";
  private long owed;
  private boolean held;
  private boolean closed;

  EdgeStream(
      BatcherConfig config,
      EdgeStreams all,
      ReplicaLoop loop,
      GrpcServerRequest<EdgeFrame, ReplicaFrame> request) {
    this.config = config;
    this.all = all;
    this.loop = loop;
    this.response = request.response();
    request.handler(this::frame);
    request.exceptionHandler(_ -> detach());
    request.errorHandler(_ -> detach());
    request.endHandler(_ -> end());
    response.exceptionHandler(_ -> detach());
    // Without this the edge would wait for the first frame to learn that it is attached.
    response.writeHead();
  }

  private void frame(EdgeFrame frame) {
    if (closed) {
      return;
    }
    if (edge.isEmpty() && frame.getFrameCase() != EdgeFrame.FrameCase.HELLO) {
      LOG.warn("an edge did not say hello; its stream is closed");
      end();
      return;
    }
    switch (frame.getFrameCase()) {
      case HELLO -> edge = printable(frame.getHello().getEdge());
      case SUBMIT -> submit(frame.getSubmit());
      case CANCEL -> cancel(frame.getCancel());
      case CREDIT -> credit(frame.getCredit());
      // A newer edge may say more than this replica understands.
      case FRAME_NOT_SET -> LOG.debug("an unknown frame of the edge {} is ignored", edge);
    }
  }

  /** The name stands in log lines. */
  private static String printable(String name) {
    String safe = shortened(name).replaceAll("[^\\x21-\\x7e]", "?");
    return safe.isEmpty() ? "?" : safe;
  }

  private static String shortened(String name) {
    return name.substring(0, Math.min(NAME_LENGTH_MAX, name.length()));
  }

  private void submit(Submit submit) {
    try {
      GenerationSpec spec = all.rules().check(submit);
      if (generations.contains(spec.id())) {
        // The edge could not tell the two apart, so neither goes on.
        forget(spec.id());
        loop.cancel(spec.id());
        throw conflict();
      }
      if (generations.size() >= config.generationsPerEdgeMax()) {
        throw new MeshException(
            FailureKind.OVERLOADED,
            "overloaded",
            "This replica runs as many requests of this edge as it may. Try again.",
            null,
            1_000);
      }
      if (!all.own(spec.id(), this)) {
        throw conflict();
      }
      generations.add(spec.id());
      loop.submit(spec, submit.getCredit());
      if (held) {
        loop.hold(spec.id(), true);
      }
    } catch (MeshException refusal) {
      Frames frames = new Frames(0, config.frameBytesMax());
      frames.addRefusal(shortened(submit.getGeneration()), refusal);
      write(frames.build());
    }
  }

  private static MeshException conflict() {
    return new MeshException(
        FailureKind.CONFLICT, "generation_exists", "A generation with this id is running.");
  }

  private void cancel(Cancel cancel) {
    own(cancel.getGeneration()).ifPresent(loop::cancel);
  }

  private void credit(Credit credit) {
    // On the wire it is unsigned: what looks negative is more than anybody needs.
    int tokens = credit.getTokens() < 0 ? Integer.MAX_VALUE : credit.getTokens();
    own(credit.getGeneration()).ifPresent(generation -> loop.credit(generation, tokens));
  }

  /** The generation, if it is one of this edge: nobody touches another's. */
  private Optional<GenerationId> own(String value) {
    try {
      GenerationId generation = new GenerationId(value);
      return generations.contains(generation) ? Optional.of(generation) : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** The generation has ended. */
  void forget(GenerationId generation) {
    generations.remove(generation);
    all.disown(generation);
  }

  void write(List<ReplicaFrame> frames) {
    for (ReplicaFrame frame : frames) {
      if (closed) {
        return;
      }
      int bytes = frame.getSerializedSize();
      owed += bytes;
      response.write(frame).onComplete(_ -> wrote(bytes));
    }
    if (owed > 2L * config.edgeOwedBytesMax()) {
      LOG.warn("the edge {} does not read; its stream is cut", edge);
      response.cancel();
      detach();
    } else if (owed > config.edgeOwedBytesMax()) {
      hold(true);
    }
  }

  private void wrote(int bytes) {
    owed -= bytes;
    if (held && owed <= config.edgeOwedBytesMax() / 2) {
      hold(false);
    }
  }

  private void hold(boolean now) {
    if (held != now && !closed) {
      held = now;
      generations.forEach(generation -> loop.hold(generation, now));
    }
  }

  /** The edge has said all it wants to say, so it wants nothing more. */
  private void end() {
    if (!closed) {
      detach();
      response.end();
    }
  }

  /** Ends the stream from this side; everything was said. */
  Future<Void> close() {
    if (closed) {
      return Future.succeededFuture();
    }
    detach();
    return response.end();
  }

  /** Whatever the reason, nobody reads any more. */
  private void detach() {
    if (closed) {
      return;
    }
    closed = true;
    all.detached(this);
    for (GenerationId generation : List.copyOf(generations)) {
      forget(generation);
      loop.cancel(generation);
    }
  }
}
