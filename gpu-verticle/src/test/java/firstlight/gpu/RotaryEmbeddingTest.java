package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RotaryEmbeddingTest {
  @Test
  void pairs_turn_by_their_angle_and_the_rest_of_the_head_stays() {
    RotaryEmbedding rotary = new RotaryEmbedding(new float[] {1, 0.1f}, 8);
    float[] head = {99, 1, 2, 3, 4, 5};
    rotary.rotate(head, 1, 7);
    assertThat(head[0]).isEqualTo(99);
    assertThat(head[1]).isCloseTo((float) (Math.cos(7) - 3 * Math.sin(7)), within(1e-6f));
    assertThat(head[3]).isCloseTo((float) (Math.sin(7) + 3 * Math.cos(7)), within(1e-6f));
    assertThat(head[2]).isCloseTo((float) (2 * Math.cos(0.7) - 4 * Math.sin(0.7)), within(1e-6f));
    assertThat(head[5]).isEqualTo(5);
  }

  @Test
  void rows_of_neighbouring_pairs_are_put_into_halves_head_by_head() {
    int[] order = IntStream.range(0, 12).map(row -> RotaryEmbedding.neighbour(row, 6, 4)).toArray();
    assertThat(order).containsExactly(0, 2, 1, 3, 4, 5, 6, 8, 7, 9, 10, 11);
  }
}
