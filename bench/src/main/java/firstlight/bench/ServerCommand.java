package firstlight.bench;

import firstlight.bench.Goal.AtMost;
import firstlight.bench.Goal.RatioAtLeast;
import firstlight.bench.Goal.RatioAtMost;
import firstlight.bench.ServerContestant.Load;
import firstlight.model.Model;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bench server}: what clients see, over HTTP. */
@Command(
    name = "server",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Compares the servers, streaming over HTTP: many streams at once, a shared system prompt,"
            + " a long prompt beside short streams, memory, and the time to start.")
final class ServerCommand implements Callable<Integer> {
  private static final String PEER = "llama.cpp";
  private static final String WHOLE = "Firstlight";
  private static final String ANSWERING = "Firstlight, edge + batcher + gpu";
  private static final double THIRD = 1 / 3.0;

  @Mixin private BenchOptions options = new BenchOptions();
  @Mixin private PeerOptions peers = new PeerOptions();

  @Option(
      names = "--streams",
      split = ",",
      paramLabel = "N",
      defaultValue = "1,8,32,64",
      description = "How many at once. Default: ${DEFAULT-VALUE}.")
  private List<Integer> streams = List.of();

  @Option(
      names = "--loads",
      split = ",",
      paramLabel = "LOAD",
      defaultValue = "streams,shared,long",
      description = "Which loads: ${COMPLETION-CANDIDATES}. Default: all.")
  private Set<Load> loads = EnumSet.allOf(Load.class);

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Of the prompts. Default: ${DEFAULT-VALUE}.")
  private long seed;

  private static Map<String, Goal> goals() {
    Map<String, Goal> goals = new LinkedHashMap<>();
    for (int count : List.of(8, 32, 64)) {
      goals.put("tokens/s, %d streams".formatted(count), new RatioAtLeast(3));
      goals.put("TTFT p99, s, %d streams".formatted(count), new RatioAtMost(THIRD));
    }
    goals.put("TTFT p50, s, 1 stream", new RatioAtMost(THIRD));
    goals.put("inter-token p99, s, 32 streams", new AtMost(0.2));
    goals.put("TTFT max, s, 800 shared tokens, 8 at once", new AtMost(0.3));
    goals.put(ServerLoad.GROWTH, new AtMost(2));
    return goals;
  }

  @Override
  public Integer call() {
    Path folder = options.out().resolve("server");
    Path file = Folders.model(OurServer.MODEL, options.progress);
    List<String> peer = PeerInstall.serverCommand(peers, options.progress);
    List<Round> rounds;
    try (Model model = Model.open(OurServer.MODEL, file, null)) {
      ServerContestant.Plan plan = plan(model);
      OurServer ours = new OurServer(options.threads, options.settings, folder);
      PeerServer theirs = new PeerServer(peer, file, options.threads, folder);
      rounds =
          new Rounds(options.rounds, options.quiet(), options.progress)
              .measure(
                  List.of(
                      contestant(WHOLE, ours::whole, plan),
                      new ServerContestant(PEER, theirs::forShort, theirs::forLong, plan)),
                  this::keep);
      Rounds once = new Rounds(1, options.quiet(), options.progress);
      List<Contestant> answering = List.of(contestant(ANSWERING, ours::answering, plan));
      rounds = concat(rounds, once.measure(answering, _ -> {}));
      keep(rounds);
    }
    tell(rounds);
    return 0;
  }

  private ServerContestant.Plan plan(Model model) {
    return new ServerContestant.Plan(
        loads,
        streams,
        model.tokenizer(),
        new SplittableRandom(seed),
        options.time,
        options.progress);
  }

  private static ServerContestant contestant(
      String name, Supplier<Server> server, ServerContestant.Plan plan) {
    return new ServerContestant(name, server, server, plan);
  }

  private static List<Round> concat(List<Round> first, List<Round> second) {
    return java.util.stream.Stream.concat(first.stream(), second.stream()).toList();
  }

  private void tell(List<Round> rounds) {
    Comparison comparison = new Comparison("SmolLM2 Q4_1, HTTP", WHOLE, PEER, goals());
    System.out.println(comparison.table(rounds));
    rounds.stream()
        .filter(round -> round.contestant().equals(ANSWERING))
        .forEach(round -> System.out.println(memory(round)));
    System.out.print(Report.disturbances(rounds));
    options.progress.say("all figures: %s", file());
  }

  private Path file() {
    return options.out().resolve("server.json");
  }

  private void keep(List<Round> rounds) {
    options.report("server").with("rounds", rounds).write(file());
  }

  private static String memory(Round round) {
    Goal goal = new AtMost(1);
    double resident = round.figures().getOrDefault(ServerContestant.MEMORY, Double.NaN);
    double most = round.figures().getOrDefault(ServerContestant.MEMORY_MOST, Double.NaN);
    Table table =
        new Table("memory of a JVM with the roles edge, batcher, gpu", "GiB", "wanted", "");
    String verdict = Comparison.verdict(goal.isReached(resident, Double.NaN));
    table.row(ServerContestant.MEMORY, Spread.digits(resident), goal.text(), verdict);
    table.row(ServerContestant.MEMORY_MOST, Spread.digits(most), "", "");
    return table.toString();
  }
}
