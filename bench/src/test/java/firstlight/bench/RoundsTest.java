package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RoundsTest {
  @Test
  void every_other_round_has_the_opposite_order() {
    assertThat(Rounds.order(List.of("a", "b", "c"), 1)).containsExactly("a", "b", "c");
    assertThat(Rounds.order(List.of("a", "b", "c"), 2)).containsExactly("c", "b", "a");
    assertThat(Rounds.order(List.of("a", "b", "c"), 3)).containsExactly("a", "b", "c");
  }
}
