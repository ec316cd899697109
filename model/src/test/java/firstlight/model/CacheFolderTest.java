package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CacheFolderTest {
  private static Path find(Map<String, String> environment) {
    return CacheFolder.find(environment::get, Path.of("/home/ada"));
  }

  @Test
  void our_own_variable_goes_before_the_systems_and_that_before_the_usual_place() {
    Map<String, String> both = Map.of("FIRSTLIGHT_HOME", "/models", "XDG_CACHE_HOME", "/caches");

    assertThat(find(both)).isEqualTo(Path.of("/models"));
    assertThat(find(Map.of("XDG_CACHE_HOME", "/caches"))).isEqualTo(Path.of("/caches/firstlight"));
    assertThat(find(Map.of())).isEqualTo(Path.of("/home/ada/.cache/firstlight"));
  }

  @Test
  void a_variable_that_is_empty_is_not_set() {
    assertThat(find(Map.of("FIRSTLIGHT_HOME", " ", "XDG_CACHE_HOME", "")))
        .isEqualTo(Path.of("/home/ada/.cache/firstlight"));
  }
}
