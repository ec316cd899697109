package firstlight.edge;

import firstlight.model.AnswerParser;
import firstlight.model.ChatMessage;
import firstlight.protocol.FinishReason;
import firstlight.protocol.MeshException;
import firstlight.protocol.Usage;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers turns without a model: with given words, as long as nobody pauses or cancels. A failure
 * can be set to come before or after the words.
 */
final class ScriptedTurns implements Turns {
  private final Vertx vertx;
  private final List<ScriptedTurn> turns = new CopyOnWriteArrayList<>();
  private volatile List<String> words = List.of("Hello", " world");
  private volatile FinishReason reason = FinishReason.END;
  private volatile Supplier<AnswerParser> parsers = AnswerParser::plain;
  private volatile int contextMax = 1_000;
  private volatile boolean endless;
  private volatile int most = Integer.MAX_VALUE;
  private volatile boolean steady;
  private volatile @Nullable MeshException refusal;
  private volatile @Nullable MeshException failure;

  ScriptedTurns(Vertx vertx) {
    this.vertx = vertx;
  }

  void answer(String... words) {
    this.words = List.of(words);
  }

  /** The words come again and again, one after another. */
  void answerEndlessly(boolean endless) {
    this.endless = endless;
  }

  /** An endless answer waits there for its end. */
  void atMost(int words) {
    this.most = words;
  }

  /** The words come again and again, a thousand a second at most. */
  void answerSteadily() {
    this.endless = true;
    this.steady = true;
  }

  void parseWith(Supplier<AnswerParser> parsers) {
    this.parsers = parsers;
  }

  void contextMax(int messages) {
    this.contextMax = messages;
  }

  void endWith(FinishReason reason) {
    this.reason = reason;
  }

  void refuseWith(@Nullable MeshException refusal) {
    this.refusal = refusal;
  }

  void failWith(@Nullable MeshException failure) {
    this.failure = failure;
  }

  ScriptedTurn last() {
    return turns.getLast();
  }

  int started() {
    return turns.size();
  }

  @Override
  public TurnHandle start(TurnRequest request, TurnListener listener) {
    ScriptedTurn turn = new ScriptedTurn(request, listener);
    turns.add(turn);
    vertx.runOnContext(_ -> turn.begin());
    return turn;
  }

  /** A token is a message, and the context has as many as a test says. */
  @Override
  public Future<PromptSize> measure(TurnRequest request) {
    TurnPrompt.Conversation prompt = (TurnPrompt.Conversation) request.prompts().getFirst();
    return Future.succeededFuture(new PromptSize(prompt.messages().size(), contextMax));
  }

  /** One of them. Changed on the event loop, looked at by tests. */
  final class ScriptedTurn implements TurnHandle {
    private final TurnRequest request;
    private final TurnListener listener;
    volatile int cancels;
    volatile boolean paused;
    volatile int sent;
    private volatile boolean over;

    private ScriptedTurn(TurnRequest request, TurnListener listener) {
      this.request = request;
      this.listener = listener;
    }

    TurnRequest request() {
      return request;
    }

    List<ChatMessage> messages() {
      return ((TurnPrompt.Conversation) request.prompts().getFirst()).messages();
    }

    boolean over() {
      return over;
    }

    @Override
    public void cancel() {
      if (!over) {
        over = true;
        cancels++;
      }
    }

    @Override
    public void pause() {
      paused = true;
    }

    @Override
    public void resume() {
      if (paused) {
        paused = false;
        vertx.runOnContext(_ -> next());
      }
    }

    private void begin() {
      if (over) {
        return;
      }
      MeshException refused = refusal;
      if (refused != null) {
        over = true;
        listener.on(new TurnEvent.Failed(refused));
        return;
      }
      listener.on(new TurnEvent.Started(List.of(new int[] {1}), parsers));
      vertx.runOnContext(_ -> next());
    }

    private void next() {
      if (over || paused) {
        return;
      }
      if (endless && sent >= most) {
        vertx.setTimer(1, _ -> next());
        return;
      }
      if (endless || sent < words.size()) {
        String word = words.get(sent++ % words.size());
        byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
        listener.on(
            new TurnEvent.Delta(0, word, List.of(new TurnToken(sent, bytes, -1, List.of()))));
        if (steady) {
          vertx.setTimer(1, _ -> next());
        } else {
          vertx.runOnContext(_ -> next());
        }
        return;
      }
      over = true;
      MeshException failed = failure;
      if (failed != null) {
        listener.on(new TurnEvent.Failed(failed));
        return;
      }
      Usage usage = new Usage(9, 2, sent);
      listener.on(new TurnEvent.ChoiceFinished(0, reason, usage, null));
      listener.on(new TurnEvent.Finished(usage, 0, 1));
    }
  }
}
