package firstlight.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The sink on a topic, into tables of its own, until all can be queried.
 *
 * @param rowsMax Events of a batch
 * @param options for its JVM
 */
record Sinking(
    String name,
    EventBench bench,
    String topic,
    long events,
    int rowsMax,
    int instances,
    List<String> options)
    implements Contestant {
  static final String FILES = "files";
  static final String FILE_BYTES = "MiB a file";
  static final String BYTES = "bytes an event in the lake";
  private static final double MIB = 1 << 20;

  @Override
  public Map<String, Double> measure() {
    return measure(lake());
  }

  BenchLake lake() {
    String fresh = bench.fresh("lake");
    return new BenchLake(
        bench.services(), topic, fresh, rowsMax, bench.settings(), bench.folder().resolve(fresh));
  }

  Map<String, Double> measure(BenchLake lake) {
    List<String> command =
        JavaCommand.with(
            options,
            SinkChild.class.getName(),
            List.of(),
            lake.yaml(),
            Long.toString(events),
            Integer.toString(instances));
    List<String> printed = Child.run(bench.cores().measured(command), bench.log("sink"));
    Map<String, Double> figures = new LinkedHashMap<>(JavaCommand.figures(printed.getLast()));
    BenchLake.Size size = lake.size();
    figures.put(BYTES, size.bytes() / (double) events);
    figures.put(FILES, (double) size.files());
    figures.put(FILE_BYTES, size.bytes() / MIB / size.files());
    return figures;
  }
}
