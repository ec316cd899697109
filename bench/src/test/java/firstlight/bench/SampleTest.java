package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SampleTest {
  @Test
  void a_percentile_is_the_smallest_value_that_so_many_do_not_exceed() {
    Sample hundred =
        Sample.of(IntStream.rangeClosed(1, 100).mapToObj(i -> (double) (101 - i)).toList());
    assertThat(hundred.percentile(99)).isEqualTo(99);
    assertThat(hundred.percentile(50)).isEqualTo(50);
    assertThat(hundred.percentile(0)).isEqualTo(1);
    assertThat(hundred.percentile(100)).isEqualTo(100);
    assertThat(Sample.of(List.of(1.0, 2.0, 3.0)).percentile(99)).isEqualTo(3);
  }

  @Test
  void the_median_of_an_even_number_lies_between_the_middle_two() {
    assertThat(Sample.of(List.of(4.0, 1.0, 3.0, 2.0)).median()).isEqualTo(2.5);
    assertThat(Sample.of(List.of(9.0, 1.0, 3.0)).median()).isEqualTo(3);
  }

  @Test
  void nothing_measured_is_no_sample() {
    assertThatThrownBy(() -> Sample.of(List.of())).hasMessageContaining("nothing was measured");
  }

  @Test
  void a_spread_is_told_with_three_digits() {
    assertThat(Spread.of(List.of(181.4, 170.2, 1190.0)).text()).isEqualTo("181 (170 … 1,190)");
    assertThat(Spread.of(List.of(0.0123)).text()).isEqualTo("0.012 (0.012 … 0.012)");
    assertThat(Spread.digits(2.345)).isEqualTo("2.35");
    assertThat(Spread.digits(23.45)).isEqualTo("23.5");
  }
}
