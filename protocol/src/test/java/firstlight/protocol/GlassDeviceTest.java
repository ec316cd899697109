package firstlight.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class GlassDeviceTest {
  private static Slice slice(int[] tokens, int start, int[] blocks, int sampled) {
    return new Slice(
        new GenerationId("g"), tokens, start, blocks, sampled, Sampling.GREEDY, 1, new int[0]);
  }

  private static int run(GlassDevice device, Slice slice) {
    return device.run(new RunStep(1, List.of(slice))).slices().getFirst().tokens().getLast().id();
  }

  @Test
  void it_says_the_same_whole_cut_and_in_other_blocks() {
    int expected = GlassDevice.next(new int[] {1, 2, 3, 4, 5}, Sampling.GREEDY, 50_000).id();
    GlassDevice device = GlassDevice.of(8, 2, 64);
    assertThat(run(device, slice(new int[] {1, 2, 3, 4, 5}, 0, new int[] {0, 1, 2}, 1)))
        .isEqualTo(expected);
    device.run(new RunStep(2, List.of(slice(new int[] {1, 2, 3}, 0, new int[] {7, 4}, 0))));
    assertThat(run(device, slice(new int[] {4, 5}, 3, new int[] {7, 4, 5}, 1))).isEqualTo(expected);
  }

  @Test
  void one_wrong_block_changes_what_it_says() {
    GlassDevice device = GlassDevice.of(8, 2, 64);
    device.run(new RunStep(1, List.of(slice(new int[] {1, 2, 3}, 0, new int[] {0, 1}, 0))));
    device.run(new RunStep(2, List.of(slice(new int[] {9, 9, 9}, 0, new int[] {2, 3}, 0))));
    int right = run(device, slice(new int[] {4}, 3, new int[] {0, 1}, 1));
    int wrong = run(device, slice(new int[] {4}, 3, new int[] {2, 1}, 1));
    assertThat(wrong).isNotEqualTo(right);
  }

  @Test
  void a_model_that_repeats_itself_mostly_says_what_came_before() {
    int[] history = {GlassDevice.ECHO, 11, 12, 13, 14, 15};
    int guessed = 0;
    for (int i = 0; i < 800; i++) {
      int next = GlassDevice.next(history, Sampling.GREEDY, 50_000).id();
      int last = history.length - 1;
      int before = last - 1;
      while (before >= 0 && history[before] != history[last]) {
        before--;
      }
      guessed += before >= 0 && history[before + 1] == next ? 1 : 0;
      history = Arrays.copyOf(history, last + 2);
      history[last + 1] = next;
    }
    assertThat(guessed).isBetween(640, 790);
  }

  @Test
  void a_history_for_penalties_that_is_not_the_history_is_caught() {
    Sampling penalised = new Sampling(0, 0, 1, 0, 2, 0, 0, new int[0], new float[0], 0, -1);
    GlassDevice device = GlassDevice.of(8, 2, 64);
    run(device, slice(new int[] {1, 2}, 0, new int[] {0}, 1));
    int[] wrong = {1, 3};
    Slice next =
        new Slice(
            new GenerationId("g"), new int[] {3}, 2, new int[] {0, 1}, 1, penalised, 2, wrong);
    assertThatThrownBy(() -> run(device, next)).hasMessageContaining("penalties");
  }

  @Test
  void a_caller_that_breaks_the_contract_is_caught() {
    GlassDevice device = GlassDevice.of(4, 2, 4);
    assertThatThrownBy(() -> run(device, slice(new int[] {1}, 1, new int[] {0}, 1)))
        .hasMessageContaining("nobody wrote");
    assertThatThrownBy(() -> run(device, slice(new int[] {1, 2, 3}, 0, new int[] {0}, 1)))
        .hasMessageContaining("too short");
    assertThatThrownBy(() -> run(device, slice(new int[] {1}, 0, new int[] {4}, 1)))
        .hasMessageContaining("no such Block");
    assertThatThrownBy(() -> run(device, slice(new int[5], 0, new int[] {0, 1, 2}, 1)))
        .hasMessageContaining("too many tokens");
    device.close();
    assertThatThrownBy(() -> run(device, slice(new int[] {1}, 0, new int[] {0}, 1)))
        .hasMessageContaining("closed");
  }
}
