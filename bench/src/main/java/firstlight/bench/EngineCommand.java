package firstlight.bench;

import static firstlight.bench.EngineFigures.DECODE;
import static firstlight.bench.EngineFigures.PROMPT;
import static firstlight.bench.EngineFigures.batched;
import static firstlight.bench.EngineFigures.prefill;

import firstlight.bench.Goal.RatioAtLeast;
import firstlight.model.DefaultModels;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bench engine}: tokens per second of the engines, without any server. */
@Command(
    name = "engine",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Compares the engines: prefill, decoding alone, and decoding together. Both run the same"
            + " files; llama.cpp also runs its best file for SmolLM2 (Q4_0).")
final class EngineCommand implements Callable<Integer> {
  private static final String SMOLLM2 = "Firstlight, SmolLM2 Q4_1";
  private static final String PEER_Q4_1 = "llama.cpp, SmolLM2 Q4_1";
  private static final String PEER_Q4_0 = "llama.cpp, SmolLM2 Q4_0";
  private static final String GEMMA3 = "Firstlight, Gemma 3 Q4_K_M";
  private static final String PEER_GEMMA3 = "llama.cpp, Gemma 3 Q4_K_M";

  private static final List<Comparison> COMPARISONS =
      List.of(
          new Comparison("SmolLM2, the same file, tokens/s", SMOLLM2, PEER_Q4_1, sameFile()),
          new Comparison("SmolLM2, best file each, tokens/s", SMOLLM2, PEER_Q4_0, bestFile()),
          new Comparison("Gemma 3, the same file, tokens/s", GEMMA3, PEER_GEMMA3, gemma3()));

  @Mixin private BenchOptions options = new BenchOptions();
  @Mixin private PeerOptions peers = new PeerOptions();

  @Option(
      names = "--only",
      paramLabel = "MODEL",
      defaultValue = "",
      description = "Only models whose name contains this: smollm2 or gemma3.")
  private String only = "";

  private static Map<String, Goal> sameFile() {
    return Map.of(
        prefill(PROMPT),
        new RatioAtLeast(3.2),
        DECODE,
        new RatioAtLeast(2.2),
        batched(16),
        new RatioAtLeast(2.5),
        batched(32),
        new RatioAtLeast(2.5));
  }

  private static Map<String, Goal> bestFile() {
    return Map.of(prefill(PROMPT), new RatioAtLeast(1), DECODE, new RatioAtLeast(1.8));
  }

  private static Map<String, Goal> gemma3() {
    Map<String, Goal> goals = new LinkedHashMap<>();
    goals.put(prefill(PROMPT), new RatioAtLeast(1));
    goals.put(DECODE, new RatioAtLeast(1));
    EngineFigures.BATCHES.forEach(size -> goals.put(batched(size), new RatioAtLeast(1)));
    return goals;
  }

  @Override
  public Integer call() {
    Peer peer = PeerInstall.find(peers, options.progress);
    List<Round> rounds =
        new Rounds(options.rounds, options.quiet(), options.progress)
            .measure(contestants(peer), this::keep);
    StringBuilder text = new StringBuilder();
    for (Comparison comparison : COMPARISONS) {
      if (!comparison.lines(rounds).isEmpty()) {
        text.append(comparison.table(rounds)).append(System.lineSeparator());
      }
    }
    System.out.print(text + Report.disturbances(rounds));
    options.progress.say("all figures: %s", file());
    return 0;
  }

  private Path file() {
    return options.out().resolve("engine.json");
  }

  private void keep(List<Round> rounds) {
    options.report("engine").with("rounds", rounds).write(file());
  }

  private List<Contestant> contestants(Peer peer) {
    List<Contestant> contestants = new ArrayList<>();
    if (DefaultModels.SMOLLM2_135M.contains(only)) {
      Path file = Folders.model(DefaultModels.SMOLLM2_135M, options.progress);
      contestants.add(ours(SMOLLM2, file));
      contestants.add(theirs(PEER_Q4_1, peer, file));
      Path best = peer.requantised(file, Folders.made(), options.progress);
      contestants.add(theirs(PEER_Q4_0, peer, best));
    }
    if (DefaultModels.GEMMA3_270M.contains(only)) {
      Path file = Folders.model(DefaultModels.GEMMA3_270M, options.progress);
      contestants.add(ours(GEMMA3, file));
      contestants.add(theirs(PEER_GEMMA3, peer, file));
    }
    if (contestants.isEmpty()) {
      throw new BenchFailure("no model's name contains \"%s\"".formatted(only));
    }
    return contestants;
  }

  private Contestant ours(String name, Path model) {
    Path log = options.out().resolve("our-engine.log");
    return new OurEngine(name, model, options.threads, options.settings, log);
  }

  private Contestant theirs(String name, Peer peer, Path model) {
    return new PeerEngine(
        name, peer, model, options.threads, options.out().resolve("llama-engine.log"));
  }
}
