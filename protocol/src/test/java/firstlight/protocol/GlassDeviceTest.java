package firstlight.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class GlassDeviceTest {
  private static Slice slice(int[] tokens, int start, int[] blocks, int sampled) {
    return new Slice(
        new GenerationId("g"), tokens, start, blocks, sampled, Sampling.GREEDY, new int[0]);
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
