package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OverridesTest {
  @Test
  void an_override_takes_the_place_of_what_the_file_says_and_makes_missing_sections() {
    Map<String, Object> file = Map.of("edge", Map.of("port", 1, "host", "h"), "x", 2);
    Overrides overrides = new Overrides();
    overrides.put("edge.port", 9);
    overrides.put("node.instances.edge", 2);
    overrides.put("node.roles", List.of("edge"));
    overrides.putIfGiven("gpu.device", null);
    assertThat(overrides.applyTo(file))
        .isEqualTo(
            Map.of(
                "edge", Map.of("port", 9, "host", "h"),
                "x", 2,
                "node", Map.of("instances", Map.of("edge", 2), "roles", List.of("edge"))));
    assertThat(file.get("edge")).isEqualTo(Map.of("port", 1, "host", "h"));
  }
}
