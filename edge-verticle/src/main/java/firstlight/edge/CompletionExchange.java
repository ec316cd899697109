package firstlight.edge;

import io.vertx.ext.web.RoutingContext;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One request of chat completions or completions, from its turn's start to the last byte of its
 * answer, whole or streamed.
 *
 * <p>A stream has each choice's opening, its deltas, exactly one ending, then a usage chunk if
 * asked for, then {@code [DONE]}. One that fails on its way ends with an error object and without
 * {@code [DONE]}.
 */
final class CompletionExchange implements TurnListener {
  private final EdgeParts parts;
  private final RoutingContext http;
  private final CompletionRequest request;
  private final CompletionWriter writer;
  private final List<WholeAnswer> answers;
  private List<int[]> prompts = List.of();
  private @Nullable TurnHandle turn;
  private @Nullable SseStream stream;

  CompletionExchange(
      EdgeParts parts, RoutingContext http, CompletionRequest request, CompletionWriter writer) {
    this.parts = parts;
    this.http = http;
    this.request = request;
    this.writer = writer;
    boolean tokens = request.logprobsWanted() || request.tokenIdsWanted();
    this.answers =
        new ArrayList<>(
            IntStream.range(0, request.turn().answers())
                .mapToObj(_ -> new WholeAnswer(tokens))
                .toList());
  }

  void begin() {
    IgnoredFields.tell(http.response(), request.ignored());
    TurnHandle handle = parts.turns().start(request.turn(), this);
    turn = handle;
    Reply.whenGone(http, handle::cancel);
  }

  @Override
  public void on(TurnEvent event) {
    if (event instanceof TurnEvent.Delta delta) {
      writer.count(delta);
    }
    if (event instanceof TurnEvent.Failed(var failure) && stream == null) {
      Errors.answerTurn(http, failure);
    } else if (request.turn().origin().streamed()) {
      stream(event);
    } else {
      collect(event);
    }
  }

  private void collect(TurnEvent event) {
    switch (event) {
      case TurnEvent.Started started -> {
        prompts = started.prompts();
        writer.started(started);
      }
      case TurnEvent.Delta delta -> answers.get(delta.choice()).add(delta);
      case TurnEvent.ChoiceFinished finished -> answers.get(finished.choice()).add(finished);
      case TurnEvent.Finished finished ->
          Reply.json(http, 200, writer.whole(answers, prompts, finished.usage()));
      case TurnEvent.Failed(var failure) -> Errors.answerTurn(http, failure);
    }
  }

  private void stream(TurnEvent event) {
    if (event instanceof TurnEvent.Started started) {
      open(started);
      return;
    }
    SseStream out = stream;
    if (out == null) {
      throw new IllegalStateException("a turn began without having started");
    }
    switch (event) {
      case TurnEvent.Started _ -> {}
      case TurnEvent.Delta delta -> writer.delta(delta).forEach(out::send);
      case TurnEvent.ChoiceFinished finished -> writer.ending(finished).forEach(out::send);
      case TurnEvent.Finished finished -> {
        if (request.usageWanted()) {
          out.send(writer.usageChunk(finished.usage()));
        }
        out.done();
      }
      case TurnEvent.Failed(var failure) -> {
        out.send(Errors.event(failure));
        out.end();
      }
    }
  }

  private void open(TurnEvent.Started started) {
    if (turn == null) {
      throw new IllegalStateException("a turn is heard of before it has begun");
    }
    SseStream out = new SseStream(parts.vertx(), http.request(), parts.config(), turn);
    stream = out;
    writer.started(started);
    for (int choice = 0; choice < request.turn().answers(); choice++) {
      int[] prompt = started.prompts().get(choice / request.turn().choices());
      writer.opening(choice, prompt).ifPresent(out::send);
    }
  }
}
