package firstlight.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.model.Constraint;
import firstlight.model.DefaultModels;
import firstlight.model.Grammar;
import firstlight.model.Model;
import firstlight.model.SchemaGrammar;
import firstlight.model.TokenTrie;
import firstlight.model.Tokenizer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bench masks}: what it costs to keep an answer to a JSON Schema. */
@Command(
    name = "masks",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Measures what a constraint costs a token: to find out which tokens may come next, over the"
            + " vocabularies of both models, for answers by chance that follow a JSON Schema; with"
            + " a constraint that is new, and with one that was used before.")
final class MasksCommand implements Callable<Integer> {
  private static final String SCHEMA = "order.schema.json";
  private static final long MASK_BYTES_MAX = 16 << 20;
  private static final int TOKENS_MAX = 2_000;

  @Mixin private BenchOptions options = new BenchOptions();

  @Option(
      names = "--answers",
      paramLabel = "N",
      defaultValue = "50",
      description = "Answers to be made up. Default: ${DEFAULT-VALUE}.")
  private int answers;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Of the answers. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Override
  public Integer call() {
    options.quiet().await();
    Path file = options.out().resolve("masks.json");
    Report report = new Report("masks", options.time.epochMillis());
    Table table =
        new Table("vocabulary", "tokens", "compiled, ms", "constraint", "a token, µs", "p99, µs");
    for (String name : List.of(DefaultModels.SMOLLM2_135M, DefaultModels.GEMMA3_270M)) {
      options.progress.say("%s", name);
      report.with(name, measure(name, table)).write(file);
    }
    System.out.println(table);
    options.progress.say("all figures: %s", file);
    return 0;
  }

  private Map<String, Object> measure(String name, Table table) {
    try (Model model = Model.open(name, Folders.model(name, options.progress), null)) {
      Tokenizer tokenizer = model.tokenizer();
      int size = tokenizer.vocabularySize();
      byte[][] bytes = new byte[size][];
      for (int id = 0; id < size; id++) {
        bytes[id] = tokenizer.isControl(id) ? new byte[0] : tokenizer.bytes(id);
      }
      TokenTrie trie = TokenTrie.of(size, id -> bytes[id]);
      Grammar grammar = schema();
      // So that the Java compiler is done.
      walk(constraint(grammar, trie, bytes), seed, size);
      long start = options.time.nanos();
      Constraint constraint = constraint(grammar, trie, bytes);
      double compiled = (options.time.nanos() - start) / 1e6;
      Map<String, Object> kept = new LinkedHashMap<>();
      kept.put("compiledMillis", compiled);
      kept.put("new", row(table, size, compiled, "new", walk(constraint, seed, size)));
      List<Long> later = new ArrayList<>();
      for (int i = 1; i <= answers; i++) {
        later.addAll(walk(constraint, seed + i, size));
      }
      kept.put("used", row(table, size, compiled, "used before", later));
      return kept;
    }
  }

  private static Constraint constraint(Grammar grammar, TokenTrie trie, byte[][] bytes) {
    return Constraint.compile(grammar, trie, id -> bytes[id], MASK_BYTES_MAX);
  }

  private static Grammar schema() {
    try (InputStream in = MasksCommand.class.getResourceAsStream(SCHEMA)) {
      Object schema = new ObjectMapper().readValue(Objects.requireNonNull(in), Object.class);
      // As it comes to a replica: as text.
      return Grammar.parse(SchemaGrammar.of(schema).toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** One answer by chance: nanoseconds of each token. */
  private List<Long> walk(Constraint constraint, long seed, int size) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Long> nanos = new ArrayList<>();
    Constraint.State state = constraint.start();
    while (!state.isOver() && nanos.size() < TOKENS_MAX) {
      long start = options.time.nanos();
      long[] mask = constraint.mask(state);
      long between = options.time.nanos();
      int token = draw(mask, size, random);
      long after = options.time.nanos();
      state = constraint.next(state, token);
      nanos.add(between - start + options.time.nanos() - after);
    }
    return nanos;
  }

  /** The next allowed one from a place by chance on. */
  private static int draw(long[] mask, int size, SplittableRandom random) {
    int id = random.nextInt(size);
    while ((mask[id >> 6] >>> id & 1) == 0) {
      id = (id + 1) % size;
    }
    return id;
  }

  private static Map<String, Object> row(
      Table table, int size, double compiled, String constraint, List<Long> nanos) {
    List<Long> sorted = nanos.stream().sorted().toList();
    double mean = nanos.stream().mapToLong(Long::longValue).average().orElse(0) / 1e3;
    double p99 = sorted.get((int) (0.99 * (sorted.size() - 1))) / 1e3;
    table.row(
        "%,d".formatted(size),
        String.valueOf(nanos.size()),
        Spread.digits(compiled),
        constraint,
        Spread.digits(mean),
        Spread.digits(p99));
    return Map.of("tokens", nanos.size(), "meanMicros", mean, "p99Micros", p99);
  }
}
