package firstlight.bench;

import firstlight.bench.Goal.AtMost;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bench lookups}: how long it takes to find a stored conversation, by tier. */
@Command(
    name = "lookups",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Measures how long a session's history takes to be found in the node's memory, in Redis"
            + " and in PostgreSQL, one after the other, with the real services on loopback: the"
            + " tier alone, and from the message to the answer.")
final class LookupsCommand implements Callable<Integer> {
  private static final String SECTION = "session.";
  private static final String LOCAL = "local";
  private static final String REDIS = "redis";
  private static final String POSTGRES = "postgres";

  /** Milliseconds of the tier alone, 99 of 100. */
  private static final Map<String, Goal> GOALS =
      Map.of(LOCAL, new AtMost(0.05), REDIS, new AtMost(1), POSTGRES, new AtMost(5));

  @Mixin private BenchOptions options = new BenchOptions();

  @Option(
      names = "--sessions",
      paramLabel = "N",
      defaultValue = "10000",
      description = "Sessions that are stored. Default: ${DEFAULT-VALUE}.")
  private int sessions;

  @Option(
      names = "--turns",
      paramLabel = "N",
      defaultValue = "4",
      description = "Turns of a session. Default: ${DEFAULT-VALUE}.")
  private int turns;

  @Option(
      names = "--characters",
      paramLabel = "N",
      defaultValue = "1500",
      description = "Characters of a turn. Default: ${DEFAULT-VALUE}.")
  private int characters;

  @Option(
      names = "--lookups",
      paramLabel = "N",
      defaultValue = "20000",
      description = "Look-ups in a measurement. Default: ${DEFAULT-VALUE}.")
  private int lookups;

  @Override
  public Integer call() {
    Path work = options.out().resolve("lookups");
    Folders.empty(work);
    options.progress.say("starting PostgreSQL and Redis");
    try (ServicesChild services =
        ServicesChild.start(
            work.resolve("services"),
            options.out().resolve("services.log"),
            options.time,
            "--roles",
            "session")) {
      measure(session(services.settings()));
    }
    Folders.empty(work);
    options.progress.say("all figures: %s", file());
    return 0;
  }

  private void measure(Map<String, Object> found) {
    try (TierLookups local = contestant(LOCAL, found, Map.of());
        TierLookups redis = contestant(REDIS, found, Map.of("cache.enabled", false));
        TierLookups postgres =
            contestant(POSTGRES, found, Map.of("cache.enabled", false, "redis.enabled", false))) {
      options.progress.say("storing %,d sessions of %d turns", sessions, turns);
      local.fill();
      List<TierLookups> all = List.of(local, redis, postgres);
      options.progress.say("warming up");
      all.forEach(TierLookups::warmUp);
      List<Round> rounds =
          new Rounds(options.rounds, options.quiet(), options.progress).measure(all, this::keep);
      System.out.println(table(rounds));
      System.out.print(Report.disturbances(rounds));
    }
  }

  private TierLookups contestant(String tier, Map<String, Object> found, Map<String, ?> switches) {
    Map<String, Object> settings = new LinkedHashMap<>();
    // All sessions have room in the node's memory, for as long as it takes.
    settings.put("cache.entries", 2 * sessions * turns);
    settings.put("cache.bytes", "2GiB");
    settings.put("cache.ttl", "1h");
    settings.putAll(found);
    settings.putAll(session(options.settings));
    settings.putAll(switches);
    return new TierLookups(
        tier, settings, new SessionTurns(sessions, turns, characters), lookups, 1, options.time);
  }

  private static Map<String, Object> session(Map<String, ?> settings) {
    Map<String, Object> section = new LinkedHashMap<>();
    settings.forEach(
        (name, value) -> {
          if (name.startsWith(SECTION)) {
            section.put(name.substring(SECTION.length()), value);
          }
        });
    return section;
  }

  private static String table(List<Round> rounds) {
    Table table = new Table("tier", "figure", "", "wanted", "");
    for (String tier : List.of(LOCAL, REDIS, POSTGRES)) {
      Round.values(tier, rounds)
          .forEach(
              (figure, values) -> {
                Spread spread = Spread.of(values);
                Goal goal = figure.equals(TierLookups.TIER_P99) ? GOALS.get(tier) : null;
                table.row(
                    tier,
                    figure,
                    spread.text(),
                    goal == null ? "" : goal.text(),
                    goal == null
                        ? ""
                        : Comparison.verdict(goal.isReached(spread.median(), Double.NaN)));
              });
    }
    return table.toString();
  }

  private Path file() {
    return options.out().resolve("lookups.json");
  }

  private void keep(List<Round> rounds) {
    options
        .report("lookups")
        .with("sessions", sessions)
        .with("turns", turns)
        .with("characters", characters)
        .with("lookups", lookups)
        .with("rounds", rounds)
        .write(file());
  }
}
