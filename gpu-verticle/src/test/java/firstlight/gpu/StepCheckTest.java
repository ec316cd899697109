package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.GenerationId;
import firstlight.protocol.MeshException;
import firstlight.protocol.RunStep;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The fake device has 8 Blocks of 16, 32 tokens a Step, 64 positions, 100 tokens. */
class StepCheckTest {
  private final StepCheck check = new StepCheck(new FakeDevice().capacity());

  private void check(Slice... slices) {
    check.check(new RunStep(1, List.of(slices)));
  }

  private void refused(String message, Slice... slices) {
    assertThatThrownBy(() -> check(slices))
        .isInstanceOf(MeshException.class)
        .hasMessageContaining(message);
  }

  @Test
  void a_step_at_all_limits_is_taken() {
    assertThatCode(
            () ->
                check(
                    Steps.slice("a", new int[16], 48, new int[] {0, 1, 2, 7}, 1),
                    Steps.slice("b", new int[16], 0, new int[] {3}, 0)))
        .doesNotThrowAnyException();
  }

  @Test
  void too_many_tokens_are_refused() {
    refused("33 tokens", Steps.slice("a", new int[33], 0, new int[] {0, 1, 2}, 1));
  }

  @Test
  void positions_beyond_the_context_or_the_block_table_are_refused() {
    refused("the context", Steps.slice("a", new int[1], 64, new int[] {0, 1, 2, 3, 4}, 1));
    refused("block table", Steps.slice("a", new int[2], 15, new int[] {0}, 1));
    refused("the context", Steps.slice("a", new int[1], Integer.MAX_VALUE - 1, new int[] {0}, 1));
  }

  @Test
  void blocks_that_are_not_there_are_refused() {
    refused("Block 8", Steps.slice("a", new int[1], 0, new int[] {8}, 1));
    refused("Block -1", Steps.slice("a", new int[1], 0, new int[] {-1}, 1));
  }

  @Test
  void tokens_outside_the_vocabulary_are_refused_wherever_they_stand() {
    refused("token 100", Steps.slice("a", new int[] {100}, 0, new int[] {0}, 1));
    refused("token -1", Steps.slice("a", new int[] {-1}, 0, new int[] {0}, 1));
    refused("token 100", with(Sampling.GREEDY, new int[] {100}));
    Sampling biased = new Sampling(0, 0, 1, 0, 1, 0, 0, new int[] {100}, new float[] {1}, 0, -1);
    refused("token 100", with(biased, new int[0]));
  }

  private static Slice with(Sampling sampling, int[] history) {
    return new Slice(
        new GenerationId("a"), new int[] {1}, 0, new int[] {0}, 1, sampling, 1, history);
  }
}
