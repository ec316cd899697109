package firstlight.bench;

import firstlight.model.Model;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bench flood}: what one tenant's flood does to another. */
@Command(
    name = "flood",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Two tenants of Firstlight: one keeps to half of its share of the capacity, first alone,"
            + " then while the other floods the service and does not wait when it is refused.")
final class FloodCommand implements Callable<Integer> {
  private static final double GROWTH_MAX = 1.5;
  private static final double MODEST = 0.5;
  private static final int TENANTS = 2;

  @Mixin private BenchOptions options = new BenchOptions();
  @Mixin private OpenLoopOptions load = new OpenLoopOptions();

  @Option(
      names = "--times",
      paramLabel = "N",
      defaultValue = "20",
      description = "Multiple of its share that the flood offers. Default: ${DEFAULT-VALUE}.")
  private int times;

  @Override
  public Integer call() {
    Path file = Folders.model(OurServer.MODEL, options.progress);
    OurServer server =
        new OurServer(options.threads, load.settings(options), options.out().resolve("flood"));
    options.quiet().await();
    CpuTimes before = options.quiet().now();
    try (Model model = Model.open(OurServer.MODEL, file, null);
        OpenLoad running = new OpenLoad(server.withTenants(), model, load.seed, options.time)) {
      double share =
          load.capacity(running, () -> running.ask().by(OurServer.KEYS.get(0)), options.progress)
              / TENANTS;
      OpenLoop.Wave modest = wave(running, MODEST * share, OurServer.KEYS.get(1), true);
      OpenLoop.Wave flood = wave(running, times * share, OurServer.KEYS.get(0), false);
      options.progress.say("one tenant alone: %d clients", modest.arrivals().size());
      OpenLoopFigures alone = running.run(List.of(modest), load.seconds, 0).getFirst();
      // The same arrivals with new prompts, so that the prefix cache makes no difference.
      OpenLoop.Wave again =
          new OpenLoop.Wave(
              modest.arrivals(),
              modest.asks().stream().map(_ -> running.ask().by(OurServer.KEYS.get(1))).toList(),
              true);
      options.progress.say("the other floods: %d clients", flood.arrivals().size());
      List<OpenLoopFigures> both = running.run(List.of(again, flood), load.seconds, 0);
      tell(alone, both.get(0), both.get(1), options.quiet().now().foreignCores(before));
    }
    return 0;
  }

  private OpenLoop.Wave wave(OpenLoad running, double rate, String key, boolean comesAgain) {
    return running.wave(rate, load.seconds, () -> running.ask().by(key), comesAgain);
  }

  private void tell(
      OpenLoopFigures alone, OpenLoopFigures beside, OpenLoopFigures flood, double foreignCores) {
    double growth = beside.firstToken(99) / alone.firstToken(99);
    Table table =
        new Table("tenant", "clients", "refused", "failed", "TTFT p50", "TTFT p99", "wanted", "");
    table.row(row("modest, alone", alone, "", ""));
    table.row(
        row(
            "modest, beside the flood",
            beside,
            "≤ %s s".formatted(Spread.digits(GROWTH_MAX * alone.firstToken(99))),
            Comparison.verdict(growth <= GROWTH_MAX && beside.failed() == 0)));
    table.row(row("the flood", flood, "", ""));
    System.out.printf(
        Locale.ROOT,
        "TTFT p99 grows %.2f-fold (wanted ≤ %.1f); others used %.2f cores meanwhile.%n%n%s",
        growth,
        GROWTH_MAX,
        foreignCores,
        table);
    if (beside.failed() > 0) {
      System.out.println("The first that failed beside it met with: " + beside.failure());
    }
    Path file = options.out().resolve("flood.json");
    new Report("flood", options.time.epochMillis())
        .with("firstTokenP99Alone", alone.firstToken(99))
        .with("firstTokenP99Beside", beside.firstToken(99))
        .with("growth", growth)
        .with("refusedBeside", beside.refused())
        .with("foreignCores", foreignCores)
        .with("firstTokensAlone", alone.firstTokens())
        .with("firstTokensBeside", beside.firstTokens())
        .with("firstTokensOfTheFlood", flood.firstTokens())
        .write(file);
    options.progress.say("all figures: %s", file);
  }

  private static String[] row(String name, OpenLoopFigures figures, String wanted, String verdict) {
    return new String[] {
      name,
      String.valueOf(figures.visits().size()),
      String.valueOf(figures.refused()),
      String.valueOf(figures.failed()),
      Spread.digits(figures.firstToken(50)) + " s",
      Spread.digits(figures.firstToken(99)) + " s",
      wanted,
      verdict
    };
  }
}
