package firstlight.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.wire.Submit;
import java.util.List;
import org.junit.jupiter.api.Test;

class InferenceFramesTest {
  private static GenerationSpec spec() {
    return new GenerationSpec(
        new GenerationId("gen_1"),
        new TenantId("a"),
        "m",
        new int[] {1, 2, 3},
        new int[] {4},
        20,
        new Sampling(
            0.7f, 5, 0.5f, 0.05f, 1.2f, 0.1f, 0.2f, new int[] {3, 9}, new float[] {1, -2}, -7, 3),
        List.of(new byte[] {10}, new byte[] {65, 66}),
        new int[] {2},
        1_700_000_000_123L,
        Priority.HIGH,
        true,
        "root ::= \"a\"",
        true);
  }

  @Test
  void a_generation_comes_back_as_it_went() throws Exception {
    Submit submit = Submit.parseFrom(InferenceFrames.submit(spec(), 64).toByteArray());
    assertThat(submit.getCredit()).isEqualTo(64);
    assertThat(InferenceFrames.spec(submit)).usingRecursiveComparison().isEqualTo(spec());
  }

  @Test
  void an_edge_that_names_no_priority_means_the_normal_one() {
    Submit silent = InferenceFrames.submit(spec(), 1).toBuilder().clearPriority().build();
    assertThat(InferenceFrames.spec(silent).priority()).isEqualTo(Priority.NORMAL);
  }

  @Test
  void a_generation_that_can_not_be_is_refused() {
    Submit valid = InferenceFrames.submit(spec(), 1);
    assertThatThrownBy(() -> InferenceFrames.spec(valid.toBuilder().clearPrompt().build()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> InferenceFrames.spec(valid.toBuilder().setOutputMax(0).build()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> InferenceFrames.spec(valid.toBuilder().setGeneration("").build()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> InferenceFrames.spec(valid.toBuilder().clearSampling().build()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> InferenceFrames.spec(valid.toBuilder().setPriority("URGENT").build()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
