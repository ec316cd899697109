package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FinishReason;
import firstlight.protocol.Usage;
import io.vertx.ext.web.RoutingContext;
import org.jspecify.annotations.Nullable;

/**
 * One request of Anthropic's messages, from its turn's start to the last byte of its answer, whole
 * or streamed: {@code message_start}, the blocks, {@code message_delta}, {@code message_stop}. A
 * stream that fails on its way ends with {@code error}.
 */
final class MessagesExchange implements TurnListener {
  private final EdgeParts parts;
  private final RoutingContext http;
  private final TurnRequest request;
  private final StringBuilder text = new StringBuilder();
  private @Nullable MessagesBlocks blocks;
  private TurnEvent.@Nullable ChoiceFinished end;
  private @Nullable TurnHandle turn;
  private @Nullable SseStream stream;

  MessagesExchange(EdgeParts parts, RoutingContext http, TurnRequest request) {
    this.parts = parts;
    this.http = http;
    this.request = request;
  }

  void begin() {
    TurnHandle handle = parts.turns().start(request, this);
    turn = handle;
    Reply.whenGone(http, handle::cancel);
  }

  @Override
  public void on(TurnEvent event) {
    switch (event) {
      case TurnEvent.Started started -> start(started);
      case TurnEvent.Delta delta -> {
        if (request.origin().streamed()) {
          blocks().next(delta.text()).forEach(this::send);
        } else {
          text.append(delta.text());
        }
      }
      case TurnEvent.ChoiceFinished finished -> {
        end = finished;
        blocks().next(text.toString());
        blocks().end().forEach(this::send);
      }
      case TurnEvent.Finished(Usage usage, _, _) -> finish(usage);
      case TurnEvent.Failed failed -> fail(failed);
    }
  }

  private void start(TurnEvent.Started started) {
    blocks =
        new MessagesBlocks(
            started.parsers().get(),
            call -> CallIds.message(request.response(), call),
            parts.json());
    if (!request.origin().streamed() || turn == null) {
      return;
    }
    stream = new SseStream(parts.vertx(), http.request(), parts.config(), turn);
    // How much of the prompt was cached is not known before the end.
    Usage usage = new Usage(started.prompts().getFirst().length, 0, 0);
    MessagesBlocks.Event start = MessagesBlocks.Event.of("message_start");
    start.data().set("message", message(usage));
    send(start);
    send(MessagesBlocks.Event.of("ping"));
  }

  private void finish(Usage usage) {
    if (!request.origin().streamed()) {
      ObjectNode message = message(usage);
      message.set("content", blocks().content());
      Reply.json(http, 200, message.setAll(stop()));
      return;
    }
    MessagesBlocks.Event last = MessagesBlocks.Event.of("message_delta");
    last.data().set("delta", stop());
    last.data().set("usage", usage(usage));
    send(last);
    send(MessagesBlocks.Event.of("message_stop"));
    if (stream != null) {
      stream.end();
    }
  }

  private void fail(TurnEvent.Failed failed) {
    SseStream out = stream;
    if (out == null) {
      Errors.answerTurn(http, failed.failure());
      return;
    }
    out.send("error", AnthropicErrors.body(failed.failure(), Caller.of(http).requestId()));
    out.end();
  }

  private void send(MessagesBlocks.Event event) {
    if (stream != null) {
      stream.send(event.name(), event.data());
    }
  }

  private MessagesBlocks blocks() {
    if (blocks == null) {
      throw new IllegalStateException("a turn began without having started");
    }
    return blocks;
  }

  private ObjectNode message(Usage usage) {
    ObjectNode message =
        Json.object()
            .put("id", request.response().value())
            .put("type", "message")
            .put("role", "assistant")
            .put("model", request.model());
    message.putArray("content");
    message.putNull("stop_reason").putNull("stop_sequence");
    message.set("usage", usage(usage));
    return message;
  }

  private ObjectNode stop() {
    FinishReason reason = end == null ? FinishReason.END : end.reason();
    String stop = end == null ? null : end.stop();
    String word =
        switch (reason) {
          case LENGTH -> "max_tokens";
          case STOP -> "stop_sequence";
          case END, CANCELLED -> blocks().hasCalls() ? "tool_use" : "end_turn";
        };
    return Json.object().put("stop_reason", word).put("stop_sequence", stop);
  }

  /** Unlike OpenAI, Anthropic does not count what was cached as input. */
  private static ObjectNode usage(Usage usage) {
    return Json.object()
        .put("input_tokens", usage.prompt() - usage.cached())
        .put("cache_creation_input_tokens", 0)
        .put("cache_read_input_tokens", usage.cached())
        .put("output_tokens", usage.output())
        .put("service_tier", "standard");
  }
}
