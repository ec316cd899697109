package firstlight.bench;

import firstlight.protocol.Time;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What all measurements of the slow path share.
 *
 * @param folder for spools and copies of data files; emptied between runs
 * @param settings of whoever measures
 * @param used counts names
 */
record EventBench(
    Cores cores,
    EventServices services,
    Path folder,
    Path logs,
    Map<String, String> settings,
    Time time,
    AtomicInteger used) {
  static final String RATE = SinkChild.RATE;

  EventBench(
      Cores cores,
      EventServices services,
      Path folder,
      Path logs,
      Map<String, String> settings,
      Time time) {
    this(cores, services, folder, logs, settings, time, new AtomicInteger());
  }

  /** A name that nothing had before. */
  String fresh(String what) {
    return what + used.incrementAndGet();
  }

  Path log(String name) {
    return logs.resolve(name + ".log");
  }

  KafkaTool tool(String log) {
    return new KafkaTool(cores, services.bootstrap(), log(log));
  }
}
