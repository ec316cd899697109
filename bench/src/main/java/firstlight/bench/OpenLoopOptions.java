package firstlight.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** Options of benchmarks with clients that do not wait for each other. */
final class OpenLoopOptions {
  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "60",
      description = "How long clients come. Default: ${DEFAULT-VALUE}.")
  int seconds;

  @Option(
      names = "--capacity",
      paramLabel = "X",
      defaultValue = "0",
      description = "Requests per second the server can do. Default: it is measured.")
  private double capacity;

  @Option(
      names = "--capacity-seconds",
      paramLabel = "N",
      defaultValue = "30",
      description = "How long the capacity is measured. Default: ${DEFAULT-VALUE}.")
  private int capacitySeconds;

  @Option(
      names = "--first-token-max",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description = {
        "Longest wait for a first token: what the server is told, and what it must hold.",
        "Default: ${DEFAULT-VALUE}."
      })
  int firstTokenMaxSeconds;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Of prompts and arrivals. Default: ${DEFAULT-VALUE}.")
  long seed;

  /** Settings of the server: those given, and the limit unless it is among them. */
  Map<String, String> settings(BenchOptions options) {
    Map<String, String> settings = new LinkedHashMap<>(options.settings);
    settings.putIfAbsent("batcher.firstTokenMax", firstTokenMaxSeconds + "s");
    return settings;
  }

  /** Requests per second, as given or as measured now. */
  double capacity(OpenLoad running, Supplier<Ask> asks, Progress progress) {
    if (capacity > 0) {
      return capacity;
    }
    progress.say("measuring the capacity");
    double measured = running.capacity(capacitySeconds, asks);
    progress.say("capacity: %.2f requests/s", measured);
    return measured;
  }
}
