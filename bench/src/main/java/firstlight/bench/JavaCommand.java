package firstlight.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The command line of a JVM of the same kind and with the same classes as this one. */
final class JavaCommand {
  /** As much as a small node has, so that a heap's size is not what is compared. */
  private static final String HEAP = "-Xmx512m";

  private static final List<String> OPTIONS =
      List.of(
          "--add-modules=jdk.incubator.vector",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow",
          "-Djava.net.preferIPv4Stack=true",
          "-Dlogback.statusListenerClass=ch.qos.logback.core.status.NopStatusListener",
          "-Dfirstlight.home=" + Folders.home());

  private JavaCommand() {}

  /**
   * Runs a main class.
   *
   * @param more classes besides ours: jars, or folders with or without {@code /*}
   */
  static List<String> of(String main, List<String> more, String... arguments) {
    return with(List.of(HEAP), main, more, arguments);
  }

  /**
   * As above.
   *
   * @param options for the JVM
   */
  static List<String> with(
      List<String> options, String main, List<String> more, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(OPTIONS);
    command.addAll(options);
    List<String> classes = new ArrayList<>(List.of(System.getProperty("java.class.path")));
    classes.addAll(more);
    command.addAll(List.of("-cp", String.join(File.pathSeparator, classes), main));
    command.addAll(List.of(arguments));
    return command;
  }

  /**
   * Figures that such a child printed as one line of JSON.
   *
   * @throws BenchFailure it is something else
   */
  static Map<String, Double> figures(String line) {
    try {
      return new ObjectMapper()
          .readValue(line, new TypeReference<LinkedHashMap<String, Double>>() {});
    } catch (JsonProcessingException e) {
      throw new BenchFailure("a child printed no figures: " + line, e);
    }
  }
}
