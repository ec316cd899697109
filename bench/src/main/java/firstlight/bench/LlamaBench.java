package firstlight.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What llama.cpp's own benchmarks print, as figures in tokens per second. */
final class LlamaBench {
  private static final ObjectMapper JSON = new ObjectMapper();

  private LlamaBench() {}

  /**
   * Output of {@code llama-bench -o json}.
   *
   * @throws BenchFailure it has another form
   */
  static Map<String, Double> read(List<String> lines) {
    Map<String, Double> figures = new LinkedHashMap<>();
    for (JsonNode test : tree(String.join("\n", lines))) {
      int prompt = test.path("n_prompt").asInt();
      double rate = number(test, "avg_ts");
      figures.put(prompt > 0 ? EngineFigures.prefill(prompt) : EngineFigures.DECODE, rate);
    }
    return figures;
  }

  /**
   * Output of {@code llama-batched-bench --output-format jsonl}.
   *
   * @throws BenchFailure it has another form
   */
  static Map<String, Double> readBatched(List<String> lines) {
    Map<String, Double> figures = new LinkedHashMap<>();
    for (String line : lines) {
      if (line.startsWith("{")) {
        JsonNode test = tree(line);
        figures.put(EngineFigures.batched(test.path("pl").asInt()), number(test, "speed_tg"));
      }
    }
    return figures;
  }

  private static JsonNode tree(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw new BenchFailure("llama.cpp's benchmark printed no JSON: " + e.getOriginalMessage(), e);
    }
  }

  private static double number(JsonNode test, String field) {
    if (!test.path(field).isNumber()) {
      throw new BenchFailure("llama.cpp's benchmark printed no " + field + ": " + test);
    }
    return test.get(field).asDouble();
  }
}
