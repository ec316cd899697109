package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PipFailureTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          /usr/bin/python3: No module named pip | this Python has no pip. Install it
          WARNING: Retrying after NewConnectionError('x')\\nERROR: No matching distribution \
          | the package index is not reachable. Connect
          ERROR: Could not find a version that satisfies | does not have it. Check name and version
          ERROR: Could not install: [Errno 28] No space left on device | is full. Free some space
          noise\\nERROR: something odd\\nnoise | ): ERROR: something odd. Check pip's settings
          '' | ): it said nothing. Check pip's settings
          """)
  void what_pip_says_becomes_one_sentence(String log, String sentence) {
    String said = log.replace("\\n", "\n");
    assertThat(PipFailure.explain(List.of("a==1"), said, Path.of("/models")))
        .contains(sentence)
        .doesNotContain("\n");
  }
}
