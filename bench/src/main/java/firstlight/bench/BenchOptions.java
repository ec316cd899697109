package firstlight.bench;

import firstlight.protocol.Time;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** Options that all benchmarks have. */
final class BenchOptions {
  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "Rounds; in each, all contestants are measured. Default: ${DEFAULT-VALUE}.")
  int rounds;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "2",
      description = "Threads that compute, for all contestants. Default: ${DEFAULT-VALUE}.")
  int threads;

  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description = "A setting for Firstlight, such as gpu.kvMemory=1GiB. May be repeated.")
  Map<String, String> settings = new LinkedHashMap<>();

  @Option(
      names = "--out",
      paramLabel = "FOLDER",
      defaultValue = "data/bench",
      description = "Where results and logs go. Default: ${DEFAULT-VALUE}.")
  private Path out;

  @Option(
      names = "--foreign-cores",
      paramLabel = "X",
      defaultValue = "0.1",
      description = {
        "Cores that others may use during a measurement; with more it is repeated.",
        "Default: ${DEFAULT-VALUE}."
      })
  private double foreignCoresMax;

  @Option(
      names = "--patience",
      paramLabel = "SECONDS",
      defaultValue = "120",
      description = "How long to wait for a quiet machine. Default: ${DEFAULT-VALUE}.")
  private int patienceSeconds;

  final Time time = Time.system();
  final Progress progress = new Progress(System.err, time);

  Path out() {
    return out.isAbsolute() ? out : Folders.home().resolve(out);
  }

  Quiet quiet() {
    return Quiet.here(foreignCoresMax, patienceSeconds, time, progress);
  }

  /** Of a benchmark run with these options. */
  Report report(String benchmark) {
    return new Report(benchmark, time.epochMillis())
        .with("threads", threads)
        .with("settings", settings);
  }

  /** The same on a command line. */
  List<String> arguments() {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--rounds=" + rounds,
                "--threads=" + threads,
                "--out=" + out,
                "--foreign-cores=" + foreignCoresMax,
                "--patience=" + patienceSeconds));
    settings.forEach((name, value) -> arguments.add("--set=" + name + "=" + value));
    return arguments;
  }
}
