package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private static Round round(String contestant, int number, Map<String, Double> figures) {
    return new Round(contestant, number, figures, 0, false);
  }

  @Test
  void ratios_are_taken_round_by_round() {
    Comparison comparison =
        new Comparison("t", "a", "b", Map.of("decode", new Goal.RatioAtLeast(2.2)));
    List<Round> rounds =
        List.of(
            round("a", 1, Map.of("decode", 300.0)),
            round("b", 1, Map.of("decode", 100.0)),
            // The whole machine was slower: the ratio is not.
            round("b", 2, Map.of("decode", 40.0)),
            round("a", 2, Map.of("decode", 100.0)),
            round("a", 3, Map.of("decode", 250.0)),
            round("b", 3, Map.of("decode", 125.0)));
    Comparison.Line line = comparison.lines(rounds).getFirst();
    assertThat(line.ratio()).isEqualTo(new Spread(2.5, 2, 3));
    assertThat(line.ours()).isEqualTo(new Spread(250, 100, 300));
    assertThat(line.verdict()).isEqualTo("PASS");
    assertThat(comparison.table(rounds)).contains("ratio ≥ 2.2");
  }

  @Test
  void a_figure_that_one_lacks_is_left_out() {
    List<Round> rounds =
        List.of(round("a", 1, Map.of("x", 1.0, "y", 1.0)), round("b", 1, Map.of("y", 2.0)));
    assertThat(new Comparison("t", "a", "b", Map.of()).lines(rounds))
        .extracting(Comparison.Line::figure)
        .containsExactly("y");
    assertThat(new Comparison("t", "a", "c", Map.of()).lines(rounds)).isEmpty();
  }

  @Test
  void goals_are_about_the_ratio_or_about_our_figure() {
    assertThat(new Goal.RatioAtLeast(2).isReached(1, 2)).isTrue();
    assertThat(new Goal.RatioAtLeast(2).isReached(9, 1.99)).isFalse();
    assertThat(new Goal.RatioAtMost(0.5).isReached(9, 0.5)).isTrue();
    assertThat(new Goal.RatioAtMost(0.5).isReached(0, 0.51)).isFalse();
    assertThat(new Goal.AtMost(0.2).isReached(0.2, 9)).isTrue();
    assertThat(new Goal.AtMost(0.2).isReached(0.21, 0)).isFalse();
    assertThat(new Goal.AtLeast(0.9).isReached(0.9, 0)).isTrue();
    assertThat(new Goal.AtLeast(0.9).isReached(0.89, 9)).isFalse();
    assertThat(new Goal.AtMost(0.3).text()).isEqualTo("≤ 0.3");
    assertThat(new Goal.RatioAtLeast(3).text()).isEqualTo("ratio ≥ 3");
  }
}
