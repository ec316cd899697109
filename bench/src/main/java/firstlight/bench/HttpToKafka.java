package firstlight.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Feedback over HTTP at an edge that has a core, until its Events are on Kafka in transactions that
 * count.
 *
 * @param posts that are measured
 * @param connections that clients keep
 * @param bytes takes those of an Event
 */
record HttpToKafka(String name, EventBench bench, int posts, int connections, AtomicInteger bytes)
    implements Contestant {
  static final String CPU = "CPU, µs an event";
  private static final int WARM_UP_SHARE = 4;

  @Override
  public Map<String, Double> measure() {
    String topic = bench.fresh("http");
    bench.services().createTopic(topic);
    Process edge =
        Child.talk(
            bench
                .cores()
                .measured(JavaCommand.of(EdgeChild.class.getName(), List.of(), yaml(topic))),
            bench.log("edge"));
    try (BufferedReader answers = edge.inputReader();
        PrintStream questions = new PrintStream(edge.getOutputStream(), true)) {
      int port = (int) number(answers);
      FeedbackLoad load = new FeedbackLoad(port, connections);
      int warmUp = posts / WARM_UP_SHARE;
      load.give(warmUp);
      questions.println(warmUp);
      long cpu = number(answers);
      long begin = bench.time().nanos();
      load.give(posts);
      questions.println(warmUp + posts);
      cpu = number(answers) - cpu;
      double seconds = (bench.time().nanos() - begin) / 1e9;
      Map<String, Double> figures = new LinkedHashMap<>();
      figures.put(EventBench.RATE, posts / seconds);
      bytes.set(bench.services().valueBytes(topic));
      figures.put(HandOver.BYTES, (double) bytes.get());
      figures.put(CPU, cpu / (double) posts);
      return figures;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      Child.end(edge);
      bench.services().deleteTopic(topic);
    }
  }

  private String yaml(String topic) {
    return new SettingsTree()
        .put("edge.open", true)
        .put("edge.port", 0)
        .put("edge.kafka.bootstrap", bench.services().bootstrap())
        .put("edge.kafka.topic", topic)
        .put("edge.spool.folder", bench.folder().resolve("spool-" + topic).toString())
        .putAll(bench.settings())
        .yaml();
  }

  private long number(BufferedReader answers) throws IOException {
    String line = answers.readLine();
    if (line == null || !line.matches("\\d+")) {
      throw new BenchFailure(
          "the edge does not answer. Its last words:%n%s"
              .formatted(Child.lastWords(bench.log("edge"), List.of())));
    }
    return Long.parseLong(line);
  }
}
