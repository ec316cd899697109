package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Clients as their makers publish them, each installed once, unchanged, below app/target. */
final class PublishedClients {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final List<String> PYTHON =
      List.of("openai[realtime]==3.57.0", "anthropic==2.14.0");
  private static final List<String> ICEBERG = List.of("pyiceberg[sql-postgres,pyarrow]==0.12.0");
  private static final List<String> NODE = List.of("openai@6.49.0", "ws@8.23.0");
  private static final List<String> AGENT = List.of("@openai/codex@0.171.0");

  private PublishedClients() {}

  /** How a program ended. */
  record Run(int status, String output, String errors) {
    Run ok() {
      assertThat(status).as("%s\n%s", output, errors).isZero();
      return this;
    }
  }

  /** Runs one of our scripts with the Python clients of OpenAI and Anthropic. */
  static Run python(String script, String... arguments) throws Exception {
    return python("python", PYTHON, script, arguments);
  }

  /** Runs one of our scripts with PyIceberg. */
  static Run iceberg(String script, String... arguments) throws Exception {
    return python("iceberg", ICEBERG, script, arguments);
  }

  private static Run python(String name, List<String> packages, String script, String... arguments)
      throws Exception {
    need("python3");
    Path folder = target(name);
    if (!isComplete(folder, packages)) {
      List<String> install =
          List.of("python3", "-m", "pip", "install", "--quiet", "--upgrade", "--target");
      run(joined(install, joined(List.of(folder.toString()), packages))).ok();
      complete(folder, packages);
    }
    List<String> command = List.of("python3", scripts().resolve(script).toString());
    return run(
        FirstlightProcess.freshFolder("python"),
        joined(command, List.of(arguments)),
        Map.of("PYTHONPATH", folder.toString()));
  }

  /** Runs one of our scripts with OpenAI's client for Node. */
  static Run node(String script, String... arguments) throws Exception {
    need("node");
    Path folder = npm("node", NODE);
    // A script finds packages only where it lies itself.
    try (Stream<Path> files = Files.list(scripts())) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.write(folder.resolve(file.getFileName()), Files.readAllBytes(file));
      }
    }
    return run(joined(List.of("node", folder.resolve(script).toString()), List.of(arguments)));
  }

  /** Codex, the coding agent. */
  static Path codex() throws Exception {
    need("node");
    return npm("codex", AGENT).resolve("node_modules/.bin/codex");
  }

  private static Path npm(String name, List<String> packages) throws Exception {
    need("npm");
    Path folder = target(name);
    if (!isComplete(folder, packages)) {
      Files.createDirectories(folder);
      List<String> install =
          List.of(
              "npm", "install", "--no-audit", "--no-fund", "--no-save", "--prefix", "" + folder);
      run(joined(install, packages)).ok();
      complete(folder, packages);
    }
    return folder;
  }

  /** Whoever has no Python or Node may go without these tests, but not the project's own runs. */
  private static void need(String program) throws InterruptedException {
    boolean there;
    try {
      there = new ProcessBuilder(program, "--version").start().waitFor() == 0;
    } catch (IOException _) {
      there = false;
    }
    assumeTrue(there || System.getenv("CI") != null, program + " is not there");
    assertThat(there).as("%s is there", program).isTrue();
  }

  static Path scripts() {
    return Sources.root().resolve("app/src/test/resources/clients").toAbsolutePath();
  }

  /** What all of them are to do. */
  static JsonNode task() {
    try {
      return Client.JSON.readTree(scripts().resolve("task.json").toFile());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path target(String name) {
    return Sources.root().resolve("app/target/clients").resolve(name).toAbsolutePath();
  }

  private static boolean isComplete(Path folder, List<String> packages) throws IOException {
    Path mark = folder.resolve("complete");
    return Files.exists(mark) && Files.readAllLines(mark).equals(packages);
  }

  private static void complete(Path folder, List<String> packages) throws IOException {
    Files.write(folder.resolve("complete"), packages);
  }

  private static List<String> joined(List<String> first, List<String> then) {
    return Stream.concat(first.stream(), then.stream()).toList();
  }

  private static Run run(List<String> command) throws Exception {
    return run(FirstlightProcess.freshFolder("run"), command, Map.of());
  }

  /**
   * Runs a program to its end.
   *
   * @param folder where it works and what it says is kept
   */
  static Run run(Path folder, List<String> command, Map<String, String> environment)
      throws Exception {
    Path output = folder.resolve("output.txt");
    Path errors = folder.resolve("errors.txt");
    ProcessBuilder builder =
        new ProcessBuilder(new ArrayList<>(command))
            .directory(folder.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    boolean ended = process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
    if (!ended) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
    Run run = new Run(process.exitValue(), Files.readString(output), Files.readString(errors));
    assertThat(ended).as("%s ends within %s: %s", command, LIMIT, run).isTrue();
    return run;
  }
}
