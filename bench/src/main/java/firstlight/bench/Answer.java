package firstlight.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * What one streamed request met with. Times are of one clock, in nanoseconds.
 *
 * @param sent when the request was sent
 * @param status of HTTP; 0: there was no answer
 * @param retryAfterMillis when a refused client may come again; -1: it was not told
 * @param arrivals when pieces of text came
 * @param ended when it was over
 * @param promptTokens as the server counted; -1: it did not say
 * @param completionTokens as the server counted; -1: it did not say
 * @param failure what went wrong; empty: nothing
 */
record Answer(
    long sent,
    int status,
    long retryAfterMillis,
    List<Long> arrivals,
    long ended,
    int promptTokens,
    int completionTokens,
    String failure) {
  private static final int REFUSED = 429;
  private static final int FULL = 503;

  Answer {
    arrivals = List.copyOf(arrivals);
  }

  boolean isServed() {
    return status == 200 && failure.isEmpty() && !arrivals.isEmpty();
  }

  /** By its status, or by an event where the stream was opened before anything was known. */
  boolean isRefused() {
    boolean late = arrivals.isEmpty() && !failure.isEmpty() && retryAfterMillis >= 0;
    return status == REFUSED || status == FULL || late;
  }

  /** Seconds to the first text. */
  double firstToken() {
    return (arrivals.getFirst() - sent) / 1e9;
  }

  /** Of the answer; a server that did not say sends each as a piece. */
  int tokens() {
    return completionTokens >= 0 ? completionTokens : arrivals.size();
  }

  /** Those of them that came in a span of time; all pieces count as equally long. */
  double tokensBetween(long from, long to) {
    long inSpan = arrivals.stream().filter(at -> at > from && at <= to).count();
    return inSpan == 0 ? 0 : (double) tokens() * inSpan / arrivals.size();
  }

  /** Seconds between pieces of text, in order. */
  List<Double> gaps() {
    List<Double> gaps = new ArrayList<>(arrivals.size());
    for (int i = 1; i < arrivals.size(); i++) {
      gaps.add((arrivals.get(i) - arrivals.get(i - 1)) / 1e9);
    }
    return gaps;
  }

  /** The same, for a client that had asked before and was refused: it has waited since then. */
  Answer askedAt(long first) {
    return new Answer(
        first, status, retryAfterMillis, arrivals, ended, promptTokens, completionTokens, failure);
  }
}
