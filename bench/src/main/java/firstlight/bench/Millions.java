package firstlight.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Many small Events of all kinds through a sink with a small heap; then the lake is put in order,
 * and what it holds is compared with what was produced. Measured once.
 */
final class Millions {
  private static final int ROWS_MAX = 100_000;
  private static final List<String> HEAP = List.of("-Xmx256m");
  private static final double MIB = 1 << 20;

  private final EventBench bench;
  private final Progress progress;

  Millions(EventBench bench, Progress progress) {
    this.bench = bench;
    this.progress = progress;
  }

  /**
   * What was found, by name.
   *
   * @throws BenchFailure the tables hold something else than was produced
   */
  Map<String, Double> measure(long wanted) {
    Batches batches = Batches.of(wanted, ROWS_MAX);
    String topic = bench.fresh("millions");
    bench.services().createTopic(topic);
    progress.say("producing %,d events of all kinds", batches.events());
    EventMaker maker = new EventMaker(2, bench.time().epochMillis());
    EventProducer.Produced produced =
        new EventProducer(bench.services().bootstrap())
            .produce(topic, batches.events(), maker::any);
    progress.say("the sink reads them");
    Sinking sink = new Sinking("", bench, topic, batches.events(), batches.rowsMax(), 1, HEAP);
    BenchLake lake = sink.lake();
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("events", (double) batches.events());
    figures.put("bytes an event", produced.bytes() / (double) batches.events());
    figures.put(
        "bytes an event on Kafka", bench.services().bytes(topic) / (double) batches.events());
    figures.putAll(sink.measure(lake));
    figures.put("seconds", batches.events() / figures.get(SinkChild.RATE));
    check(lake, produced, "before it was put in order");
    progress.say("the lake is put in order");
    long begin = bench.time().nanos();
    lake.compact(bench.time());
    figures.put("seconds to put it in order", (bench.time().nanos() - begin) / 1e9);
    BenchLake.Size after = lake.size();
    figures.put("files then", (double) after.files());
    figures.put("MiB a file then", after.bytes() / MIB / after.files());
    figures.put("bytes an event then", after.bytes() / (double) batches.events());
    check(lake, produced, "after it was put in order");
    bench.services().deleteTopic(topic);
    return figures;
  }

  private void check(BenchLake lake, EventProducer.Produced produced, String when) {
    progress.say("counts and sums of tokens are compared, %s", when);
    List<String> differences = lake.differences(produced, bench.time());
    if (!differences.isEmpty()) {
      throw new BenchFailure(
          "the lake holds something else than was produced, %s: %s"
              .formatted(when, String.join("; ", differences)));
    }
  }
}
