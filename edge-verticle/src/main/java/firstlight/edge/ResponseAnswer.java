package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.MeshException;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sends one Response as the answer to its HTTP request. */
abstract sealed class ResponseAnswer implements ResponseRun.Listener {
  final RoutingContext context;

  private ResponseAnswer(RoutingContext context) {
    this.context = context;
  }

  /** The turn behind it; to be called before the run starts. */
  void steer(TurnHandle turn) {}

  /** In one piece, once it has ended. */
  static final class Whole extends ResponseAnswer {
    Whole(RoutingContext context) {
      super(context);
    }

    @Override
    public void events(List<ObjectNode> events) {}

    @Override
    public void ended(ObjectNode response, ResponseHistory history) {
      Reply.json(context, 200, response);
    }

    @Override
    public void failed(MeshException failure, boolean started) {
      Errors.answerTurn(context, failure);
    }
  }

  /** Event by event. The status goes with the first. */
  static final class Streamed extends ResponseAnswer implements ResponseRest.Listener {
    private final EdgeParts parts;
    private @Nullable TurnHandle turn;
    private @Nullable SseStream stream;

    Streamed(RoutingContext context, EdgeParts parts) {
      super(context);
      this.parts = parts;
    }

    @Override
    void steer(TurnHandle turn) {
      this.turn = turn;
    }

    @Override
    public void events(List<ObjectNode> events) {
      SseStream open = open();
      for (ObjectNode event : events) {
        open.send(event.get("type").textValue(), event);
      }
    }

    @Override
    public void ended(ObjectNode response, ResponseHistory history) {
      done();
    }

    @Override
    public void done() {
      open().done();
    }

    @Override
    public void failed(MeshException failure, boolean started) {
      if (started) {
        open().done();
      } else {
        Errors.answerTurn(context, failure);
      }
    }

    private SseStream open() {
      if (stream == null) {
        if (turn == null) {
          throw new IllegalStateException("a stream steers its turn");
        }
        stream = new SseStream(parts.vertx(), context.request(), parts.config(), turn);
      }
      return stream;
    }
  }
}
