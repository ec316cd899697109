package firstlight.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Two contestants side by side: of each figure the median and range of both, and of the ratios
 * round by round.
 *
 * @param ours the contestant above in a ratio
 * @param theirs the one below
 * @param goals by the name of the figure; figures without one are shown all the same
 */
record Comparison(String title, String ours, String theirs, Map<String, Goal> goals) {

  /** One line of the table. */
  record Line(
      String figure, Spread ours, Spread theirs, Spread ratio, String goal, String verdict) {}

  /** For figures that both have, in our order. */
  List<Line> lines(List<Round> rounds) {
    Map<Integer, Map<String, Double>> our = figures(rounds, ours);
    Map<Integer, Map<String, Double>> their = figures(rounds, theirs);
    List<Line> lines = new ArrayList<>();
    if (our.isEmpty() || their.isEmpty()) {
      return lines;
    }
    Map<String, Double> known = their.values().iterator().next();
    for (String figure : our.values().iterator().next().keySet()) {
      if (known.containsKey(figure)) {
        lines.add(line(figure, our, their));
      }
    }
    return lines;
  }

  private Line line(
      String figure,
      Map<Integer, Map<String, Double>> our,
      Map<Integer, Map<String, Double>> their) {
    List<Double> a = new ArrayList<>();
    List<Double> b = new ArrayList<>();
    List<Double> ratios = new ArrayList<>();
    our.forEach(
        (round, figures) -> {
          double one = Objects.requireNonNull(figures.get(figure));
          double other = Objects.requireNonNull(their.get(round)).get(figure);
          a.add(one);
          b.add(other);
          ratios.add(one / other);
        });
    Spread ratio = Spread.of(ratios);
    Goal goal = goals.get(figure);
    return new Line(
        figure,
        Spread.of(a),
        Spread.of(b),
        ratio,
        goal == null ? "" : goal.text(),
        goal == null ? "" : verdict(goal.isReached(Spread.of(a).median(), ratio.median())));
  }

  static String verdict(boolean reached) {
    return reached ? "PASS" : "MISS";
  }

  private static Map<Integer, Map<String, Double>> figures(List<Round> rounds, String contestant) {
    Map<Integer, Map<String, Double>> figures = new LinkedHashMap<>();
    for (Round round : rounds) {
      if (round.contestant().equals(contestant)) {
        figures.put(round.number(), round.figures());
      }
    }
    return figures;
  }

  /** As Markdown. */
  String table(List<Round> rounds) {
    Table table = new Table(title, ours, theirs, "ratio", "wanted", "");
    for (Line line : lines(rounds)) {
      table.row(
          line.figure,
          line.ours.text(),
          line.theirs.text(),
          line.ratio.text(),
          line.goal,
          line.verdict);
    }
    return table.toString();
  }
}
