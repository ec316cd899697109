package firstlight.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Kafka's own performance tools, each run in a process of its own on the measured core. */
record KafkaTool(Cores cores, String bootstrap, Path log) {
  private static final String PACKAGE = "org.apache.kafka.tools.";
  private static final Pattern PRODUCED =
      Pattern.compile("^(\\d+) records sent, ([\\d.]+) records/sec.*99\\.9th\\.$");
  private static final int READ_COLUMNS = 10;
  private static final int READ_RATE = 5;
  private static final int TIMEOUT_MILLIS = 60_000;

  /** Records a second, until all are acknowledged. */
  double produce(String topic, int records, int bytes) {
    List<String> lines =
        run(
            "ProducerPerformance",
            "--topic",
            topic,
            "--num-records",
            Integer.toString(records),
            "--record-size",
            Integer.toString(bytes),
            "--throughput",
            "-1",
            "--producer-props",
            "bootstrap.servers=" + bootstrap,
            "acks=all",
            "enable.idempotence=true",
            "compression.type=zstd",
            "linger.ms=5",
            "batch.size=131072");
    return produced(lines);
  }

  static double produced(List<String> lines) {
    return lines.stream()
        .map(PRODUCED::matcher)
        .filter(Matcher::find)
        .mapToDouble(line -> Double.parseDouble(line.group(2)))
        .reduce((_, last) -> last)
        .orElseThrow(() -> new BenchFailure("Kafka's producer tool printed no figures: " + lines));
  }

  /** Records a second, from when it joins its group until it has read so many. */
  double consume(String topic, String group, int records) {
    return consumed(
        run(
            "ConsumerPerformance",
            "--bootstrap-server",
            bootstrap,
            "--topic",
            topic,
            "--group",
            group,
            "--messages",
            Integer.toString(records),
            "--timeout",
            Integer.toString(TIMEOUT_MILLIS)));
  }

  static double consumed(List<String> lines) {
    return lines.stream()
        .map(line -> line.split(",\\s*"))
        .filter(cells -> cells.length == READ_COLUMNS && cells[READ_RATE].matches("[\\d.]+"))
        .mapToDouble(cells -> Double.parseDouble(cells[READ_RATE]))
        .findFirst()
        .orElseThrow(() -> new BenchFailure("Kafka's consumer tool printed no figures: " + lines));
  }

  private List<String> run(String tool, String... arguments) {
    // The build puts the tools there; nothing else needs them.
    String jars = Folders.home().resolve("bench/target/kafka-tools").resolve("*").toString();
    List<String> command = JavaCommand.of(PACKAGE + tool, List.of(jars), arguments);
    return Child.run(cores.measured(command), log);
  }
}
