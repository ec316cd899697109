package firstlight.bench;

import firstlight.model.Model;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bench overload}: what clients see when more come than can be served. */
@Command(
    name = "overload",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Offers Firstlight multiples of its capacity, by clients that come when they come. A"
            + " refused client comes again once, after exactly the time it was told.")
final class OverloadCommand implements Callable<Integer> {
  private static final double GOODPUT_SHARE_MIN = 0.9;
  private static final double ADMITTED_AGAIN_MIN = 0.9;

  @Mixin private BenchOptions options = new BenchOptions();
  @Mixin private OpenLoopOptions load = new OpenLoopOptions();

  @Option(
      names = "--times",
      split = ",",
      paramLabel = "N",
      defaultValue = "1,2,5,10",
      description = "Multiples of the capacity. Default: ${DEFAULT-VALUE}.")
  private List<Integer> times = List.of();

  @Override
  public Integer call() {
    Path file = Folders.model(OurServer.MODEL, options.progress);
    OurServer server =
        new OurServer(options.threads, load.settings(options), options.out().resolve("overload"));
    Map<Integer, OpenLoopFigures> found = new LinkedHashMap<>();
    double capacity;
    options.quiet().await();
    CpuTimes before = options.quiet().now();
    try (Model model = Model.open(OurServer.MODEL, file, null);
        OpenLoad running = new OpenLoad(server.whole(), model, load.seed, options.time)) {
      capacity = load.capacity(running, running::ask, options.progress);
      for (int multiple : times) {
        OpenLoop.Wave wave = running.wave(multiple * capacity, load.seconds, running::ask, true);
        options.progress.say("%d× capacity: %d clients", multiple, wave.arrivals().size());
        // Twice what the backlog takes at the capacity: a server may lose a part of its speed.
        int backlog = 2 * multiple * load.seconds;
        found.put(multiple, running.run(List.of(wave), load.seconds, backlog).getFirst());
        keep(found, capacity, options.quiet().now().foreignCores(before));
      }
    }
    tell(found, capacity, options.quiet().now().foreignCores(before));
    return 0;
  }

  private void tell(Map<Integer, OpenLoopFigures> found, double capacity, double foreignCores) {
    Table table =
        new Table(
            "offered",
            "clients",
            "refused",
            "failed",
            "TTFT p50",
            "TTFT p99",
            "wanted",
            "",
            "goodput tok/s",
            "wanted",
            "",
            "admitted when told",
            "wanted",
            "");
    double base = found.values().iterator().next().goodput(load.firstTokenMaxSeconds);
    found.forEach((multiple, figures) -> table.row(row(multiple, figures, base)));
    System.out.printf(
        Locale.ROOT,
        "Capacity %.2f requests/s; others used %.2f cores meanwhile.%n%n%s",
        capacity,
        foreignCores,
        table);
    found.values().stream()
        .map(OpenLoopFigures::failure)
        .filter(failure -> !failure.isEmpty())
        .findFirst()
        .ifPresent(failure -> System.out.println("The first that failed met with: " + failure));
    options.progress.say("all figures: %s", file());
  }

  /** After every phase, so that a run that is cut off keeps what it has. */
  private void keep(Map<Integer, OpenLoopFigures> found, double capacity, double foreignCores) {
    List<Map<String, Object>> kept = new ArrayList<>();
    found.forEach((multiple, figures) -> kept.add(kept(multiple, figures)));
    new Report("overload", options.time.epochMillis())
        .with("capacity", capacity)
        .with("foreignCores", foreignCores)
        .with("phases", kept)
        .write(file());
  }

  private Path file() {
    return options.out().resolve("overload.json");
  }

  private String[] row(int multiple, OpenLoopFigures figures, double base) {
    double limit = load.firstTokenMaxSeconds;
    double goodput = figures.goodput(limit);
    boolean isPlain = multiple == times.getFirst();
    return new String[] {
      multiple + "×",
      String.valueOf(figures.visits().size()),
      String.valueOf(figures.refused()),
      String.valueOf(figures.failed()),
      Spread.digits(figures.firstToken(50)) + " s",
      Spread.digits(figures.firstToken(99)) + " s",
      "≤ " + Spread.digits(limit) + " s",
      Comparison.verdict(figures.firstToken(99) <= limit),
      Spread.digits(goodput),
      isPlain ? "" : "≥ " + Spread.digits(GOODPUT_SHARE_MIN * base),
      isPlain ? "" : Comparison.verdict(goodput >= GOODPUT_SHARE_MIN * base),
      "%s of %d".formatted(percent(figures.admittedAgain()), figures.cameAgain()),
      "≥ " + percent(ADMITTED_AGAIN_MIN),
      Comparison.verdict(figures.admittedAgain() >= ADMITTED_AGAIN_MIN)
    };
  }

  private static String percent(double share) {
    return "%.0f %%".formatted(100 * share);
  }

  private Map<String, Object> kept(int multiple, OpenLoopFigures figures) {
    Map<String, Object> kept = new LinkedHashMap<>();
    kept.put("times", multiple);
    kept.put("clients", figures.visits().size());
    kept.put("refused", figures.refused());
    kept.put("failed", figures.failed());
    kept.put("firstTokenP50", figures.firstToken(50));
    kept.put("firstTokenP99", figures.firstToken(99));
    kept.put("goodput", figures.goodput(load.firstTokenMaxSeconds));
    kept.put("cameAgain", figures.cameAgain());
    kept.put("admittedAgain", figures.admittedAgain());
    kept.put("firstTokens", figures.firstTokens());
    return kept;
  }
}
