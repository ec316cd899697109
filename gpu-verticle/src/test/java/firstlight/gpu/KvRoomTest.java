package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KvRoomTest {
  private static KvRoom room(long blocks, int contextMax) {
    return new KvRoom(blocks, 16, contextMax, "Buy more");
  }

  @ParameterizedTest
  @CsvSource({
    // blocks, context, refused, warned of
    "0, 8192, true, true",
    "15, 8192, true, true",
    "16, 8192, false, true",
    "511, 8192, false, true",
    "512, 8192, false, false",
    "3, 64, true, true",
    "4, 64, false, false",
  })
  void a_context_should_fit_and_a_small_request_must(
      long blocks, int contextMax, boolean refused, boolean warned) {
    assertThat(room(blocks, contextMax).shortage().isPresent()).isEqualTo(refused);
    assertThat(room(blocks, contextMax).warning().isPresent()).isEqualTo(warned);
  }

  @Test
  void both_say_how_many_tokens_fit_how_many_should_and_what_helps() {
    assertThat(room(3, 8192).shortage().orElseThrow())
        .isEqualTo(
            "there is memory for keys and values of 48 tokens in all, and 256 are the least. Buy"
                + " more");
    assertThat(room(20, 8192).warning().orElseThrow())
        .contains(" 320 tokens in all", "may have 8192 (gpu.contextMax", "Buy more");
  }
}
