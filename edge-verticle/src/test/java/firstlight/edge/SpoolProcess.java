package firstlight.edge;

import firstlight.protocol.EmbeddedKafka;
import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Another process that can be killed or halted: an edge that publishes, or a broker. */
final class SpoolProcess implements AutoCloseable {
  private static final String ACCEPTED = "accepted ";
  private static final String SERVES = "serves";
  private static final int FEEDBACK_EVERY = 20;
  private static final int SECONDS_MAX = 60;

  private final Process process;
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final Thread reading;

  private SpoolProcess(String... arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                SpoolProcess.class.getName()));
    command.addAll(List.of(arguments));
    process = new ProcessBuilder(command).redirectError(Redirect.DISCARD).start();
    reading = Thread.ofPlatform().daemon().start(this::read);
  }

  /**
   * Publishes Events numbered from there on, as fast as the spool takes them, until it is killed.
   */
  static SpoolProcess edge(String bootstrap, Path spools, int first) throws IOException {
    return new SpoolProcess("edge", bootstrap, spools.toString(), Integer.toString(first));
  }

  /** A broker that serves when this returns. */
  static SpoolProcess broker(Path folder, int port) throws Exception {
    SpoolProcess broker = new SpoolProcess("broker", folder.toString(), Integer.toString(port));
    broker.await();
    return broker;
  }

  /** Until it says something. */
  String await() throws InterruptedException {
    String line = lines.poll(SECONDS_MAX, TimeUnit.SECONDS);
    if (line == null) {
      throw new AssertionError("the process says nothing");
    }
    return line;
  }

  void signal(String name) throws Exception {
    new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor();
  }

  /** Kills it as the system does; gives the numbers of what it had confirmed. */
  List<String> kill() throws Exception {
    signal("KILL");
    process.waitFor();
    reading.join();
    return lines.stream()
        .filter(line -> line.startsWith(ACCEPTED))
        .map(line -> line.substring(ACCEPTED.length()))
        .toList();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  private void read() {
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        // Libraries may print as well.
        if (line.startsWith(ACCEPTED) || line.equals(SERVES)) {
          lines.add(line);
        }
      }
    } catch (IOException _) {
      // It was killed.
    }
  }

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("broker")) {
      EmbeddedKafka.start(Path.of(arguments[1]), Integer.parseInt(arguments[2]));
      say(SERVES);
      return;
    }
    Vertx vertx = Vertx.vertx();
    EventsConfig config = SpoolTrial.config(arguments[1], arguments[2]);
    SpoolEvents events =
        new SpoolEvents(
            vertx,
            config,
            Time.system(),
            new IdSource(new SecureRandom()),
            new SimpleMeterRegistry());
    for (int i = Integer.parseInt(arguments[3]); ; i++) {
      if (i % FEEDBACK_EVERY == 0) {
        Event feedback = SampleEvents.feedback(i);
        Waiting.on(events.accept(BuiltDraft.of(feedback)));
        say(ACCEPTED + i);
      } else {
        SpoolTrial.publish(events, SampleEvents.response(i, i % 30));
      }
    }
  }

  private static void say(String line) {
    System.out.println(line);
    System.out.flush();
  }
}
