package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import firstlight.edge.EdgeModels;
import firstlight.model.Model;
import firstlight.model.TestModels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Runs every script of {@code src/test/scripts} in every mode. {@code -Dscript=overload} runs the
 * scripts with that word in their names only.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ScriptTest {
  private Model model;
  private EdgeModels edgeModels;

  @BeforeAll
  void open() {
    model = TestModels.smollm2Model();
    edgeModels = ScriptReplica.edgeModels(model);
  }

  private static List<Path> scripts() throws IOException {
    try (Stream<Path> files = Files.list(Sources.root().resolve("app/src/test/scripts"))) {
      return files.filter(file -> file.toString().endsWith(".mesh")).sorted().toList();
    }
  }

  static List<Arguments> scripts_and_modes() throws IOException {
    String wanted = System.getProperty("script", "");
    List<Arguments> all = new ArrayList<>();
    for (Path file : scripts()) {
      MeshScript script = MeshScript.read(file);
      if (script.name().contains(wanted)) {
        Stream.of(ScriptMode.values()).forEach(mode -> all.add(arguments(script, mode)));
      }
    }
    return all;
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("scripts_and_modes")
  void a_script_passes(MeshScript script, ScriptMode mode) {
    try (ScriptRun run = new ScriptRun(mode, model, edgeModels)) {
      run.run(script);
    }
  }

  @Test
  void there_are_scripts() throws IOException {
    assertThat(scripts()).hasSizeGreaterThanOrEqualTo(16);
  }

  @Test
  void what_is_not_a_command_is_named_with_its_line() {
    MeshScript.Line line = new MeshScript.Line("x.mesh", 3, "dance r1");
    try (ScriptRun run = new ScriptRun(ScriptMode.PLAIN, model, edgeModels)) {
      assertThatThrownBy(() -> run.run(new MeshScript("x.mesh", List.of(line))))
          .hasMessageContaining("x.mesh:3: dance r1")
          .hasMessageContaining("\"dance\" is not a command");
    }
  }
}
