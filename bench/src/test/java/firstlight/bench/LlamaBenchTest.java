package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What llama.cpp's programs really printed, shortened. */
class LlamaBenchTest {
  private static List<String> sample(String name) throws IOException {
    try (var stream = Objects.requireNonNull(LlamaBenchTest.class.getResourceAsStream(name))) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  @Test
  void prefill_and_decoding_are_read() throws IOException {
    assertThat(LlamaBench.read(sample("/llama-bench.json")))
        .isEqualTo(Map.of("prefill 64", 22.727043, EngineFigures.DECODE, 5.762286));
  }

  @Test
  void decoding_together_is_read() throws IOException {
    assertThat(LlamaBench.readBatched(sample("/llama-batched-bench.jsonl")))
        .isEqualTo(
            Map.of(EngineFigures.batched(1), 127.803696, EngineFigures.batched(2), 125.352562));
  }

  @Test
  void another_form_is_told() {
    assertThatThrownBy(() -> LlamaBench.read(List.of("error: no model")))
        .isInstanceOf(BenchFailure.class)
        .hasMessageContaining("printed no JSON");
    assertThatThrownBy(() -> LlamaBench.readBatched(List.of("{\"pl\":1}")))
        .isInstanceOf(BenchFailure.class)
        .hasMessageContaining("speed_tg");
  }
}
