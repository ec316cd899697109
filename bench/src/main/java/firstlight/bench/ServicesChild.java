package firstlight.bench;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.protocol.Time;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The services that {@code up} brings, in a process of their own.
 *
 * @param settings where they are, by the names of the settings that say it
 */
record ServicesChild(Process process, Map<String, Object> settings) implements AutoCloseable {
  private static final int START_SECONDS = 120;
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /**
   * Returns when they answer.
   *
   * @param folder takes their data; must be empty
   * @param arguments of {@code firstlight services} besides
   * @throws BenchFailure they do not start
   */
  static ServicesChild start(Path folder, Path log, Time time, String... arguments) {
    List<String> all = new ArrayList<>(List.of("services", "--data", folder.toString()));
    all.addAll(List.of(arguments));
    List<String> command =
        JavaCommand.with(
            List.of("-Xmx1g"), "firstlight.app.Main", List.of(), all.toArray(String[]::new));
    Process process = Child.serve(command, log);
    Path file = folder.resolve("services.json");
    long end = time.nanos() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (!Files.isRegularFile(file)) {
      if (!process.isAlive() || time.nanos() > end) {
        Child.end(process);
        throw new BenchFailure(
            "the services do not start. Their last words:%n%s"
                .formatted(Child.lastWords(log, List.of())));
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    try {
      return new ServicesChild(process, settings(file));
    } catch (IOException e) {
      Child.end(process);
      throw new BenchFailure("%s can not be read: %s".formatted(file, e.getMessage()), e);
    }
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> settings(Path file) throws IOException {
    ObjectMapper json = new ObjectMapper();
    JsonNode settings = json.readTree(file.toFile()).path("settings");
    return json.convertValue(settings, Map.class);
  }

  @Override
  public void close() {
    Child.end(process);
  }
}
