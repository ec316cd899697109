package firstlight.edge;

import firstlight.protocol.FinishReason;
import firstlight.protocol.TracedGeneration;
import firstlight.protocol.Usage;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Token;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What is remembered of one answer, token by token, for its Event. */
final class AnswerTrace {
  private static final int ROOM = 64;

  private final int index;
  private final boolean hasLogprobs;
  private final StringBuilder text = new StringBuilder();
  private int[] ids = new int[ROOM];
  private float[] logprobs;
  private int[] micros = new int[ROOM];
  private int count;
  private String replica = "";
  private long seed;
  private int promptTokens;
  private int outputMax;
  private long queuedMillis;
  private long firstTokenMillis;
  private long lastNanos;
  private @Nullable FinishReason reason;
  private String stop = "";
  private Usage usage = Usage.NONE;

  /**
   * @param startNanos when its request arrived
   */
  AnswerTrace(int index, boolean hasLogprobs, long startNanos) {
    this.index = index;
    this.hasLogprobs = hasLogprobs;
    this.logprobs = new float[hasLogprobs ? ROOM : 0];
    lastNanos = startNanos;
  }

  void placed(String replica, long seed, int promptTokens, int outputMax) {
    this.replica = replica;
    this.seed = seed;
    this.promptTokens = promptTokens;
    this.outputMax = outputMax;
  }

  /**
   * More tokens have come.
   *
   * @param firstTokenMillis since the request's arrival, where these are the first
   */
  void emitted(Emission emission, String characters, long nowNanos, long firstTokenMillis) {
    if (count == 0) {
      this.firstTokenMillis = firstTokenMillis;
      queuedMillis = emission.getQueuedMs();
    }
    text.append(characters);
    long sinceLast = (nowNanos - lastNanos) / 1_000;
    lastNanos = nowNanos;
    for (Token token : emission.getTokensList()) {
      makeRoom();
      ids[count] = token.getId();
      // Tokens that come together came at the same time: the first stands for the wait.
      micros[count] = Math.clamp(sinceLast, 0, Integer.MAX_VALUE);
      sinceLast = 0;
      if (hasLogprobs) {
        logprobs[count] = token.getLogprob();
      }
      count++;
    }
  }

  private void makeRoom() {
    if (count == ids.length) {
      int more = 2 * count;
      ids = Arrays.copyOf(ids, more);
      micros = Arrays.copyOf(micros, more);
      logprobs = hasLogprobs ? Arrays.copyOf(logprobs, more) : logprobs;
    }
  }

  void text(String rest) {
    text.append(rest);
  }

  void finished(FinishReason how, @Nullable String stopString) {
    reason = how;
    stop = stopString == null ? "" : stopString;
  }

  void cost(Usage all) {
    usage = all;
  }

  boolean hasToken() {
    return count > 0;
  }

  long lastNanos() {
    return lastNanos;
  }

  @Nullable FinishReason reason() {
    return reason;
  }

  String replica() {
    return replica;
  }

  int promptTokens() {
    return promptTokens;
  }

  int outputMax() {
    return outputMax;
  }

  String text() {
    return text.toString();
  }

  /** The ids of its tokens, in order. */
  int[] ids() {
    return Arrays.copyOf(ids, count);
  }

  /** About how many bytes it holds. */
  int weight() {
    return 2 * text.length() + (ids.length + micros.length + logprobs.length) * Integer.BYTES;
  }

  /**
   * @param withTokens whether the tokens themselves may be told, and not only when they came
   */
  TracedGeneration traced(boolean withTokens) {
    return new TracedGeneration(
        index,
        replica,
        usage,
        queuedMillis,
        firstTokenMillis,
        reason == null ? "" : reason.name(),
        stop,
        seed,
        withTokens ? ids() : new int[0],
        withTokens && hasLogprobs ? Arrays.copyOf(logprobs, count) : new float[0],
        Arrays.copyOf(micros, count));
  }
}
