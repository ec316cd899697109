package firstlight.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Figures of many streams that ran together. */
record ServerFigures(List<Answer> answers) {

  /**
   * @throws BenchFailure one was not served
   */
  ServerFigures {
    for (Answer answer : answers) {
      if (!answer.isServed()) {
        throw new BenchFailure(
            "a request was not served: status %d, %s".formatted(answer.status(), answer.failure()));
      }
    }
  }

  Sample firstTokens() {
    return Sample.of(answers.stream().map(Answer::firstToken).toList());
  }

  Sample gaps() {
    return Sample.of(answers.stream().flatMap(answer -> answer.gaps().stream()).toList());
  }

  /** From the first request to the last token. */
  double tokensPerSecond() {
    long start = answers.stream().mapToLong(Answer::sent).min().orElseThrow();
    long end = answers.stream().mapToLong(Answer::ended).max().orElseThrow();
    return answers.stream().mapToLong(Answer::tokens).sum() * 1e9 / (end - start);
  }

  /** By names that end with what they are of. */
  Map<String, Double> named(String of) {
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("tokens/s, " + of, tokensPerSecond());
    figures.put("TTFT p50, s, " + of, firstTokens().percentile(50));
    figures.put("TTFT p99, s, " + of, firstTokens().percentile(99));
    figures.put("inter-token p50, s, " + of, gaps().percentile(50));
    figures.put("inter-token p99, s, " + of, gaps().percentile(99));
    return figures;
  }

  /** When the last of them had begun. */
  long allBegun() {
    return answers.stream().mapToLong(answer -> answer.arrivals().getFirst()).max().orElseThrow();
  }

  /** Gaps that ended in a span of time; those of streams that had not begun are none. */
  Sample gapsBetween(long from, long to) {
    List<Double> gaps = new ArrayList<>();
    for (Answer answer : answers) {
      List<Long> arrivals = answer.arrivals();
      for (int i = 1; i < arrivals.size(); i++) {
        if (arrivals.get(i) > from && arrivals.get(i) <= to) {
          gaps.add((arrivals.get(i) - arrivals.get(i - 1)) / 1e9);
        }
      }
    }
    return Sample.of(gaps);
  }
}
