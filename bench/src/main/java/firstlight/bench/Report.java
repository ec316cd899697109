package firstlight.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a benchmark found, kept as JSON, with the machine it was found on. */
final class Report {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private final Map<String, Object> values = new LinkedHashMap<>();

  Report(String benchmark, long epochMillis) {
    values.put("benchmark", benchmark);
    values.put("at", Instant.ofEpochMilli(epochMillis).toString());
    values.put("machine", machine());
  }

  private static Map<String, Object> machine() {
    return Map.of(
        "processor", processor(),
        "processors", Runtime.getRuntime().availableProcessors(),
        "java", Runtime.version().toString(),
        "kernel", System.getProperty("os.version"));
  }

  /** The first model name the kernel tells. */
  static String processor() {
    try {
      return Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).trim())
          .findFirst()
          .orElse("unknown");
    } catch (IOException _) {
      return "unknown";
    }
  }

  Report with(String name, Object value) {
    values.put(name, value);
    return this;
  }

  /** Which rounds were disturbed, for people; empty when none was. */
  static String disturbances(List<Round> rounds) {
    List<Round> disturbed = rounds.stream().filter(Round::disturbed).toList();
    if (disturbed.isEmpty()) {
      return "";
    }
    Spread foreign = Spread.of(disturbed.stream().map(Round::foreignCores).toList());
    return "%d of %d measurements were disturbed: others used %s cores meanwhile.%n"
        .formatted(disturbed.size(), rounds.size(), foreign.text());
  }

  /** The file is whole at any time, whenever the benchmark is cut off. */
  void write(Path file) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      Path next = file.resolveSibling(file.getFileName() + ".next");
      JSON.writeValue(next.toFile(), values);
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new BenchFailure("%s can not be written: %s".formatted(file, e.getMessage()), e);
    }
  }
}
