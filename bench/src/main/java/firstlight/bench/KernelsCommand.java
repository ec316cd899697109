package firstlight.bench;

import firstlight.gpu.GpuConfig;
import firstlight.gpu.KernelTrial;
import firstlight.model.DefaultModels;
import firstlight.model.ModelFile;
import firstlight.protocol.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bench kernels}: our matrix products one by one, beside the bandwidth of memory. */
@Command(
    name = "kernels",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Measures our matrix products for each shape in a model: GB/s of weights, as large as they"
            + " are in the file, and GFLOP/s; beside them how fast as many bytes can be read.")
final class KernelsCommand implements Callable<Integer> {
  /** Long enough for the compiler to be done with what is measured next. */
  private static final long WARM_NANOS = TimeUnit.MILLISECONDS.toNanos(800);

  private static final long MEASURED_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  @Mixin private BenchOptions options = new BenchOptions();

  @Option(
      names = "--tokens",
      split = ",",
      paramLabel = "N",
      defaultValue = "1,4,16,128",
      description = "Tokens multiplied at once. Default: ${DEFAULT-VALUE}.")
  private List<Integer> tokens = List.of();

  @Option(
      names = "--only",
      paramLabel = "MODEL",
      defaultValue = "",
      description = "Only models whose name contains this: smollm2 or gemma3.")
  private String only = "";

  @Override
  public Integer call() {
    options.quiet().await();
    CpuTimes before = options.quiet().now();
    double one = ReadBandwidth.measure(1, ReadBandwidth.BEYOND_CACHES, options.time);
    double all = ReadBandwidth.measure(options.threads, ReadBandwidth.BEYOND_CACHES, options.time);
    System.out.printf(
        Locale.ROOT,
        "Memory is read at %.1f GB/s by one thread, at %.1f GB/s by %d.%n%n",
        one,
        all,
        options.threads);
    Path file = options.out().resolve("kernels.json");
    Report report =
        new Report("kernels", options.time.epochMillis())
            .with("threads", options.threads)
            .with("readBandwidth", Map.of("oneThread", one, "allThreads", all));
    for (String name : List.of(DefaultModels.SMOLLM2_135M, DefaultModels.GEMMA3_270M)) {
      if (name.contains(only)) {
        report.with(name, measure(name)).write(file);
      }
    }
    double foreign = options.quiet().now().foreignCores(before);
    System.out.printf(Locale.ROOT, "Others used %.2f cores meanwhile.%n", foreign);
    report.with("foreignCores", foreign).write(file);
    options.progress.say("all figures: %s", file);
    return 0;
  }

  private List<Map<String, Object>> measure(String name) {
    List<Map<String, Object>> kept = new ArrayList<>();
    Table table =
        new Table(
            name + ", rows × columns",
            "tensors",
            "tokens",
            "GB/s",
            "plain read",
            "of it",
            "GFLOP/s");
    try (ModelFile file = ModelFile.open(Folders.model(name, options.progress))) {
      for (KernelTrial.Shape shape : KernelTrial.shapes(file)) {
        options.progress.say("%s: %s %d × %d", name, shape.type(), shape.rows(), shape.columns());
        double plain = ReadBandwidth.measure(options.threads, shape.bytes(), options.time);
        for (int count : tokens) {
          double seconds = seconds(file, shape, count);
          double rate = shape.bytes() / seconds / 1e9;
          double flops = count * shape.operations() / seconds / 1e9;
          table.row(
              "%s, %,d × %,d".formatted(shape.type(), shape.rows(), shape.columns()),
              String.valueOf(shape.names().size()),
              String.valueOf(count),
              Spread.digits(rate),
              Spread.digits(plain),
              "%.0f %%".formatted(100 * rate / plain),
              Spread.digits(flops));
          kept.add(kept(shape, count, plain, rate, flops));
        }
      }
    }
    System.out.println(table);
    return kept;
  }

  private static Map<String, Object> kept(
      KernelTrial.Shape shape, int tokens, double plain, double rate, double flops) {
    Map<String, Object> kept = new LinkedHashMap<>();
    kept.put("type", shape.type());
    kept.put("rows", shape.rows());
    kept.put("columns", shape.columns());
    kept.put("tensors", shape.names().size());
    kept.put("tokens", tokens);
    kept.put("plainReadGigabytesPerSecond", plain);
    kept.put("gigabytesPerSecond", rate);
    kept.put("gigaflops", flops);
    return kept;
  }

  /** For all tensors of the shape once: the best, since nothing makes it faster by chance. */
  private double seconds(ModelFile file, KernelTrial.Shape shape, int count) {
    try (KernelTrial trial = new KernelTrial(file, config(), shape, count)) {
      best(trial, WARM_NANOS);
      return best(trial, MEASURED_NANOS) / 1e9;
    }
  }

  private double best(KernelTrial trial, long nanos) {
    long end = options.time.nanos() + nanos;
    long best = Long.MAX_VALUE;
    do {
      long start = options.time.nanos();
      trial.run();
      best = Math.min(best, options.time.nanos() - start);
    } while (options.time.nanos() < end);
    return best;
  }

  private GpuConfig config() {
    String yaml =
        new SettingsTree().put("gpu.threads", options.threads).putAll(options.settings).yaml();
    Settings settings = Settings.parse(yaml, System::getenv);
    GpuConfig config = GpuConfig.read(settings.section("gpu"));
    settings.problems().throwIfAny();
    return config;
  }
}
