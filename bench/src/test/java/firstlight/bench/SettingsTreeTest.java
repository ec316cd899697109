package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsTreeTest {
  @Test
  void dotted_names_become_sections_and_later_ones_replace_earlier_ones() {
    String yaml =
        new SettingsTree()
            .put("gpu.threads", 2)
            .put("models.smollm2-135m.default", true)
            .putAll(Map.of("gpu.threads", "1"))
            .yaml();
    assertThat(Settings.tree(yaml))
        .isEqualTo(
            Map.of(
                "gpu",
                Map.of("threads", "1"),
                "models",
                Map.of("smollm2-135m", Map.of("default", true))));
  }
}
