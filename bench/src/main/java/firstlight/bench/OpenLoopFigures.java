package firstlight.bench;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What the clients of an open loop met with.
 *
 * @param start of the span in which they came, nanoseconds
 * @param seconds its length
 */
record OpenLoopFigures(List<Visit> visits, long start, int seconds) {
  OpenLoopFigures {
    visits = List.copyOf(visits);
  }

  private List<Answer> served() {
    return visits.stream().map(Visit::last).filter(Answer::isServed).toList();
  }

  /** Of requests that were admitted, in seconds from when they were sent; NaN: none was. */
  double firstToken(double percent) {
    List<Double> waits = served().stream().map(Answer::firstToken).toList();
    return waits.isEmpty() ? Double.NaN : Sample.of(waits).percentile(percent);
  }

  /** Of those that were served: when they were sent, seconds after the start, and how long for. */
  List<List<Double>> firstTokens() {
    return served().stream()
        .map(answer -> List.of((answer.sent() - start) / 1e9, answer.firstToken()))
        .toList();
  }

  /** Tokens per second, in the span, of answers that began within the limit. */
  double goodput(double limitSeconds) {
    long end = start + TimeUnit.SECONDS.toNanos(seconds);
    return served().stream()
            .filter(answer -> answer.firstToken() <= limitSeconds)
            .mapToDouble(answer -> answer.tokensBetween(start, end))
            .sum()
        / seconds;
  }

  /** Clients whose first request was refused. */
  long refused() {
    return visits.stream().filter(visit -> visit.first().isRefused()).count();
  }

  /** Those of them that came again when they were told to. */
  long cameAgain() {
    return visits.stream().filter(Visit::cameAgain).count();
  }

  /** Share of those that were then admitted; 1: nobody came again. */
  double admittedAgain() {
    long admitted =
        visits.stream().filter(visit -> visit.cameAgain() && visit.last().isServed()).count();
    return cameAgain() == 0 ? 1 : (double) admitted / cameAgain();
  }

  /** Clients that were neither served nor refused. */
  long failed() {
    return visits.stream()
        .map(Visit::last)
        .filter(answer -> !answer.isServed() && !answer.isRefused())
        .count();
  }

  /** What the first of those met with; empty: there is none. */
  String failure() {
    return visits.stream()
        .map(Visit::last)
        .filter(answer -> !answer.isServed() && !answer.isRefused())
        .map(answer -> "%d %s".formatted(answer.status(), answer.failure()))
        .findFirst()
        .orElse("");
  }
}
