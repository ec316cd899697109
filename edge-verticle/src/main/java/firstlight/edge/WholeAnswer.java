package firstlight.edge;

import firstlight.protocol.FinishReason;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects one answer of a turn for a client that wants it in one piece. */
final class WholeAnswer {
  private final StringBuilder text = new StringBuilder();
  private final List<TurnToken> tokens = new ArrayList<>();
  private final boolean keepsTokens;
  private @Nullable FinishReason reason;
  private @Nullable String stop;

  WholeAnswer(boolean keepsTokens) {
    this.keepsTokens = keepsTokens;
  }

  void add(TurnEvent.Delta delta) {
    text.append(delta.text());
    if (keepsTokens) {
      tokens.addAll(delta.tokens());
    }
  }

  void add(TurnEvent.ChoiceFinished finished) {
    reason = finished.reason();
    stop = finished.stop();
  }

  String text() {
    return text.toString();
  }

  /** Empty unless they were to be kept. */
  List<TurnToken> tokens() {
    return tokens;
  }

  FinishReason reason() {
    if (reason == null) {
      throw new IllegalStateException("the answer has not ended");
    }
    return reason;
  }

  /** The stop string that ended it, when one did. */
  @Nullable String stop() {
    return stop;
  }
}
