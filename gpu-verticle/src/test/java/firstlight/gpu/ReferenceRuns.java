package firstlight.gpu;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;

/** Greedy runs of another implementation, handed to the tests from outside the project. */
final class ReferenceRuns {
  private ReferenceRuns() {}

  /**
   * @param prompt token ids
   * @param generated ids that followed
   * @param topIds at each generated position the five best, best first
   * @param topLogprobs theirs
   */
  record Run(int[] prompt, int[] generated, int[][] topIds, double[][] topLogprobs) {
    /** What is fed to have every generated position sampled. */
    int[] forced() {
      return IntStream.concat(
              IntStream.of(prompt), IntStream.of(generated).limit(generated.length - 1))
          .toArray();
    }
  }

  /** Skips the test that asks where the file is missing. */
  static List<Run> read(String name) {
    Path path = Path.of(System.getProperty("firstlight.shared", "../../shared"), "reference", name);
    Assumptions.assumeTrue(Files.exists(path), () -> "skipped: there is no " + path);
    try {
      List<Run> runs = new ArrayList<>();
      new ObjectMapper().readTree(path.toFile()).get("items").forEach(item -> runs.add(run(item)));
      return runs;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Run run(JsonNode item) {
    JsonNode tops = item.get("top5_logprobs");
    int[][] ids = new int[tops.size()][];
    double[][] logprobs = new double[tops.size()][];
    for (int i = 0; i < ids.length; i++) {
      JsonNode top = tops.get(i);
      ids[i] = IntStream.range(0, top.size()).map(j -> top.get(j).get(0).asInt()).toArray();
      logprobs[i] =
          IntStream.range(0, top.size()).mapToDouble(j -> top.get(j).get(1).asDouble()).toArray();
    }
    return new Run(
        ids(item.get("prompt_token_ids")), ids(item.get("generated_ids")), ids, logprobs);
  }

  private static int[] ids(JsonNode array) {
    return IntStream.range(0, array.size()).map(i -> array.get(i).asInt()).toArray();
  }
}
