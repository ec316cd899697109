package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Goal: of all limits on a length the tightest one applies, and a refusal names it. */
class LengthLimitsTest {
  private static LengthLimits limits(int model, int configured, int served, int tenant) {
    EdgeModel file = new EdgeModel("m", new ByteTokenizer(), Optional.empty(), model, "d", 0);
    return LengthLimits.of(file.within(configured, 50), served, tenant(tenant, 40));
  }

  private static TenantConfig tenant(int contextMax, int outputMax) {
    TenantId id = new TenantId("t");
    return new TenantConfig(
        id, List.of(), TextPolicy.FULL, contextMax, outputMax, 1, Duration.ZERO);
  }

  @ParameterizedTest
  @CsvSource({
    "100, 200, 200, 200, 100 positions.",
    "200, 100, 200, 200, '100 positions here, as its configuration says.'",
    "200, 200, 100, 200, '100 positions here, as many as a replica''s memory holds.'",
    "200, 200, 200, 100, '100 positions for you, as your tenant''s configuration says.'",
    "200, 120, 110, 100, '100 positions for you, as your tenant''s configuration says.'",
    "100, 100, 100, 100, 100 positions."
  })
  void the_tightest_limit_applies_and_is_named(
      int model, int configured, int served, int tenant, String named) {
    LengthLimits limits = limits(model, configured, served, tenant);

    assertThat(limits.contextMax()).isEqualTo(100);
    assertThat(limits.tooLong("120", "prompt"))
        .hasMessageContaining("has 120 tokens, but the model's context has " + named);
  }

  @ParameterizedTest
  @CsvSource({"50, 40, 40", "30, 40, 30"})
  void an_answer_has_the_smaller_limit_of_model_and_tenant(int model, int tenant, int answer) {
    EdgeModel file = new EdgeModel("m", new ByteTokenizer(), Optional.empty(), 100, "d", 0);

    assertThat(LengthLimits.of(file.within(100, model), 100, tenant(100, tenant)).outputMax())
        .isEqualTo(answer);
  }
}
