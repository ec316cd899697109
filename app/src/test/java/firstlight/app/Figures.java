package firstlight.app;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What {@code /metrics} says at one moment.
 *
 * @param series values by name and labels, as they stand there
 */
record Figures(Map<String, Double> series, String text) {
  static Figures of(Client client) throws Exception {
    String text = client.text("/metrics");
    Map<String, Double> series = new LinkedHashMap<>();
    for (String line : text.lines().filter(line -> !line.startsWith("#")).toList()) {
      int value = line.lastIndexOf(' ');
      if (series.put(line.substring(0, value), number(line.substring(value + 1))) != null) {
        throw new AssertionError("it stands twice: " + line);
      }
    }
    return new Figures(series, text);
  }

  /** In the words of the format, where infinity is +Inf. */
  private static double number(String word) {
    return Double.parseDouble(word.replace("Inf", "Infinity"));
  }

  /** The sum over all series of that name whose labels have the text. */
  double sum(String name, String labels) {
    return series.entrySet().stream()
        .filter(one -> one.getKey().equals(name) || one.getKey().startsWith(name + "{"))
        .filter(one -> one.getKey().contains(labels))
        .mapToDouble(Map.Entry::getValue)
        .sum();
  }

  double sum(String name) {
    return sum(name, "");
  }

  /** The sum over all series of that name, of which there is at least one. */
  double only(String name) {
    if (series.keySet().stream().noneMatch(one -> one.split("\\{")[0].equals(name))) {
      throw new AssertionError("there is no " + name);
    }
    return sum(name);
  }

  /** Whether no replica has anything to do. */
  boolean idle() {
    return sum("vllm:num_requests_running") == 0
        && sum("vllm:num_requests_waiting") == 0
        && sum("vllm:kv_cache_usage_perc") == 0
        && sum("firstlight_edge_generations") == 0;
  }
}
