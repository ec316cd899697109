package firstlight.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Finished Responses without HTTP. What hands them over knows the inside of the edge, so it is
 * among the edge's tests, which the build compiles, too.
 *
 * @param count Events that are sent as fast as they are taken, by a process that has one core; 0:
 *     none
 * @param rates hand-overs a second that are looked at; then the process has all cores
 * @param bytes takes those of an Event
 */
record HandOver(String name, EventBench bench, int count, List<Integer> rates, AtomicInteger bytes)
    implements Contestant {
  static final String BYTES = "bytes an event";
  private static final String MAIN = "firstlight.edge.SpoolSpeed";

  /** The edge's, and those of the protocol that they need. */
  private static final List<String> CLASSES =
      List.of("edge-verticle/target/test-classes", "protocol/target/test-classes");

  private static final String TEST_CLASS = "firstlight/edge/SpoolSpeed.class";

  @Override
  public Map<String, Double> measure() {
    String topic = bench.fresh("handover");
    bench.services().createTopic(topic);
    try {
      List<String> command =
          JavaCommand.of(
              MAIN,
              classes(),
              bench.services().bootstrap(),
              topic,
              bench.folder().resolve("spool-" + topic).toString(),
              Integer.toString(count),
              rates.isEmpty()
                  ? "0"
                  : rates.stream().map(String::valueOf).collect(Collectors.joining(",")));
      Cores cores = bench.cores();
      List<String> placed = rates.isEmpty() ? cores.measured(command) : cores.anywhere(command);
      List<String> printed = Child.run(placed, bench.log("handover"));
      Map<String, Double> figures = JavaCommand.figures(printed.getLast());
      bytes.set((int) Math.round(figures.getOrDefault(BYTES, 0.0)));
      return figures;
    } finally {
      bench.services().deleteTopic(topic);
    }
  }

  private static List<String> classes() {
    List<Path> classes = CLASSES.stream().map(Folders.home()::resolve).toList();
    boolean isOnPath = HandOver.class.getClassLoader().getResource(TEST_CLASS) != null;
    if (!isOnPath && !Files.exists(classes.getFirst().resolve(TEST_CLASS))) {
      throw new BenchFailure(
          "%s is missing: it comes with the sources, and is compiled when the tests are. Build with"
                  .formatted(classes.getFirst())
              + " \"mvn -DskipTests package\".");
    }
    return classes.stream().map(Path::toString).toList();
  }
}
