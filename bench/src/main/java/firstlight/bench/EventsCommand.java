package firstlight.bench;

import firstlight.bench.Goal.AtMost;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code bench events}: the slow path, from the edge to Kafka and from there to the lake. */
@Command(
    name = "events",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Measures the slow path beside Kafka's own performance tools, on the same broker and on one"
          + " processor core each, while the broker, the other services and the load share"
          + " another: feedback over HTTP to Kafka, finished Responses to Kafka, Kafka to the"
          + " lake's tables, what the hand-over costs an event loop, and millions of events"
          + " through a sink with a small heap. Needs taskset, else nothing is kept on a core."
    })
final class EventsCommand implements Callable<Integer> {
  private static final String HTTP = "Firstlight, feedback over HTTP";
  private static final String RESPONSES = "Firstlight, finished Responses";
  private static final String LOOP = "Firstlight, the event loop";
  private static final String SINK = "Firstlight, ";
  private static final String HTTP_PEER = "Kafka's producer, as large as feedback";
  private static final String RESPONSES_PEER = "Kafka's producer, as large as Responses";
  private static final String CONSUMER = "Kafka's consumer";
  private static final double HAND_OVER_MICROS_MAX = 20;
  private static final int ROWS_MAX = 5_000;
  private static final int TOKENS = 200;
  private static final int WORDS = 180;
  private static final int MILLION = 1_000_000;

  /** The tool is quicker; it runs about as long. */
  private static final int TOOL_RECORDS = 5;

  /** What can be measured. */
  enum Part {
    HTTP,
    RESPONSES,
    LOOP,
    SINK,
    MILLIONS
  }

  @Mixin private BenchOptions options = new BenchOptions();

  @Option(
      names = "--parts",
      split = ",",
      paramLabel = "PART",
      defaultValue = "http,responses,loop,sink,millions",
      description = "What is measured: ${COMPLETION-CANDIDATES}. Default: all.")
  private Set<Part> parts = EnumSet.allOf(Part.class);

  @Option(
      names = "--posts",
      paramLabel = "N",
      defaultValue = "40000",
      description = "Feedback over HTTP in a measurement. Default: ${DEFAULT-VALUE}.")
  private int posts;

  @Option(
      names = "--connections",
      paramLabel = "N",
      defaultValue = "64",
      description = "Connections that give feedback. Default: ${DEFAULT-VALUE}.")
  private int connections;

  @Option(
      names = "--events",
      paramLabel = "N",
      defaultValue = "80000",
      description = {
        "Finished Responses of 200 tokens in a measurement, to Kafka and to the lake.",
        "Default: ${DEFAULT-VALUE}."
      })
  private int events;

  @Option(
      names = "--rates",
      split = ",",
      paramLabel = "N",
      defaultValue = "1000,5000,20000",
      description = "Hand-overs a second on an event loop. Default: ${DEFAULT-VALUE}.")
  private List<Integer> rates = List.of();

  @Option(
      names = "--instances",
      split = ",",
      paramLabel = "N",
      defaultValue = "1,2",
      description = "Verticle instances of the sink. Default: ${DEFAULT-VALUE}.")
  private List<Integer> instances = List.of();

  @Option(
      names = "--millions",
      paramLabel = "X",
      defaultValue = "0.2",
      description = {
        "Millions of small events of all kinds through a sink with a heap of 256 MiB, once.",
        "Default: ${DEFAULT-VALUE}."
      })
  private double millions;

  private final Map<String, Object> found = new LinkedHashMap<>();

  @Override
  public Integer call() {
    Path work = options.out().resolve("events");
    Folders.empty(work);
    Cores cores = Cores.take(options.progress);
    found.put("pinned", cores.pinned());
    options.progress.say("starting Kafka, PostgreSQL and an object store");
    try (EventServices services =
        EventServices.start(
            work.resolve("services"), options.out().resolve("services.log"), options.time)) {
      EventBench bench =
          new EventBench(cores, services, work, options.out(), options.settings, options.time);
      measure(bench);
    }
    Folders.empty(work);
    options.progress.say("all figures: %s", file());
    return 0;
  }

  private void measure(EventBench bench) {
    Batches batches = Batches.of(events, ROWS_MAX);
    String topic = bench.fresh("events");
    if (parts.contains(Part.SINK)) {
      fill(bench, topic, batches);
    }
    List<Round> rounds =
        new Rounds(options.rounds, options.quiet(), options.progress)
            .measure(contestants(bench, topic, batches), this::keep);
    tell(rounds);
    if (parts.contains(Part.MILLIONS)) {
      Map<String, Double> figures =
          new Millions(bench, options.progress).measure(Math.round(millions * MILLION));
      found.put("millions", figures);
      keep(rounds);
      System.out.println(alone("many events through a sink with 256 MiB of heap", figures));
      System.out.println("Counts and sums of tokens are those that were produced.");
    }
    System.out.print(Report.disturbances(rounds));
  }

  private void fill(EventBench bench, String topic, Batches batches) {
    options.progress.say("producing %,d events for the sink", batches.events());
    bench.services().createTopic(topic);
    EventMaker maker = new EventMaker(1, options.time.epochMillis());
    EventProducer.Produced produced =
        new EventProducer(bench.services().bootstrap())
            .produce(topic, batches.events(), () -> maker.response(TOKENS, WORDS));
    double count = batches.events();
    found.put("bytes an event", produced.bytes() / count);
    found.put("bytes an event on Kafka", bench.services().bytes(topic) / count);
  }

  private List<Contestant> contestants(EventBench bench, String topic, Batches batches) {
    List<Contestant> contestants = new ArrayList<>();
    if (parts.contains(Part.HTTP)) {
      AtomicInteger bytes = new AtomicInteger();
      contestants.add(new HttpToKafka(HTTP, bench, posts, connections, bytes));
      contestants.add(new KafkaProducing(HTTP_PEER, bench, TOOL_RECORDS * posts, bytes));
    }
    if (parts.contains(Part.RESPONSES)) {
      AtomicInteger bytes = new AtomicInteger();
      contestants.add(new HandOver(RESPONSES, bench, events, List.of(), bytes));
      contestants.add(new KafkaProducing(RESPONSES_PEER, bench, TOOL_RECORDS * events, bytes));
    }
    if (parts.contains(Part.LOOP)) {
      contestants.add(new HandOver(LOOP, bench, 0, rates, new AtomicInteger()));
    }
    if (parts.contains(Part.SINK)) {
      for (int count : instances) {
        contestants.add(
            new Sinking(
                sink(count),
                bench,
                topic,
                batches.events(),
                batches.rowsMax(),
                count,
                List.of("-Xmx512m")));
      }
      contestants.add(
          new KafkaConsuming(CONSUMER, bench, topic, Math.toIntExact(batches.events())));
    }
    return contestants;
  }

  private static String sink(int count) {
    return SINK + (count == 1 ? "a sink" : "%d sinks".formatted(count));
  }

  private void tell(List<Round> rounds) {
    List<Comparison> comparisons = new ArrayList<>();
    comparisons.add(new Comparison("HTTP to Kafka, one core", HTTP, HTTP_PEER, Map.of()));
    comparisons.add(
        new Comparison("hand-over to Kafka, one core", RESPONSES, RESPONSES_PEER, Map.of()));
    for (int count : instances) {
      comparisons.add(
          new Comparison("Kafka to the lake, one core", sink(count), CONSUMER, Map.of()));
    }
    for (Comparison comparison : comparisons) {
      if (!comparison.lines(rounds).isEmpty()) {
        System.out.println(comparison.table(rounds));
      }
    }
    rounds.stream()
        .map(Round::contestant)
        .distinct()
        .filter(name -> name.startsWith(SINK))
        .forEach(name -> System.out.println(spreads(name, rounds)));
    if (found.containsKey("bytes an event on Kafka")) {
      System.out.printf(
          "An event that the sinks read has %.0f bytes, and %.0f on Kafka.%n%n",
          found.get("bytes an event"), found.get("bytes an event on Kafka"));
    }
  }

  /** Of one contestant, over all rounds. */
  private static String spreads(String contestant, List<Round> rounds) {
    Map<String, List<Double>> values = Round.values(contestant, rounds);
    Table table = new Table(contestant, "", "wanted", "");
    values.forEach(
        (figure, all) -> {
          Spread spread = Spread.of(all);
          Goal goal = new AtMost(HAND_OVER_MICROS_MAX);
          boolean aimed = figure.contains(", p99, ");
          table.row(
              figure,
              spread.text(),
              aimed ? goal.text() : "",
              aimed ? Comparison.verdict(goal.isReached(spread.median(), Double.NaN)) : "");
        });
    return table.toString();
  }

  private static String alone(String title, Map<String, Double> figures) {
    Table table = new Table(title, "");
    figures.forEach((figure, value) -> table.row(figure, Spread.digits(value)));
    return table.toString();
  }

  private Path file() {
    return options.out().resolve("events.json");
  }

  private void keep(List<Round> rounds) {
    Report report = options.report("events").with("rounds", rounds);
    found.forEach(report::with);
    report.write(file());
  }
}
