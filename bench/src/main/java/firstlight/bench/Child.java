package firstlight.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Child processes. They end with this one, by Ctrl-C too. */
final class Child {
  private static final int OUTPUT_LINES_MAX = 100_000;
  private static final int TOLD_LINES = 15;
  private static final int STOP_SECONDS = 10;

  private Child() {}

  /** Sees that no child outlives this process. */
  static void endAllWithThis() {
    Runtime.getRuntime().addShutdownHook(new Thread(Child::endAll, "end-children"));
  }

  private static void endAll() {
    end(ProcessHandle.current().children().toList());
  }

  /**
   * Runs a command to its end.
   *
   * @param log takes what it writes on its error stream
   * @return the lines it printed
   * @throws BenchFailure it did not start, or ended with a failure; the end of its log is told
   */
  static List<String> run(List<String> command, Path log) {
    return run(command, log, Map.of(), _ -> {});
  }

  /** As above, with more environment, and telling each line as it comes. */
  static List<String> run(
      List<String> command, Path log, Map<String, String> environment, Consumer<String> told) {
    List<String> lines = new ArrayList<>();
    Process process = start(command, log, environment);
    try (BufferedReader output =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        told.accept(line);
        if (lines.size() < OUTPUT_LINES_MAX) {
          lines.add(line);
        }
      }
      if (process.waitFor() != 0) {
        throw new BenchFailure(
            "%s ended with %d. Its last words:%n%s"
                .formatted(command.getFirst(), process.exitValue(), lastWords(log, lines)));
      }
      return lines;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchFailure("interrupted", e);
    } catch (IOException e) {
      throw new BenchFailure(command.getFirst() + " can not be read: " + e.getMessage(), e);
    } finally {
      process.destroyForcibly();
    }
  }

  private static Process start(List<String> command, Path log, Map<String, String> environment) {
    try {
      Files.createDirectories(log.toAbsolutePath().getParent());
      ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
      builder.environment().putAll(environment);
      return builder.start();
    } catch (IOException e) {
      throw new BenchFailure(
          "%s does not start: %s".formatted(command.getFirst(), e.getMessage()), e);
    }
  }

  /** Starts a command that serves until it is ended; all it writes goes into the log. */
  static Process serve(List<String> command, Path log) {
    try {
      Files.createDirectories(log.toAbsolutePath().getParent());
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
      return builder.start();
    } catch (IOException e) {
      throw new BenchFailure(
          "%s does not start: %s".formatted(command.getFirst(), e.getMessage()), e);
    }
  }

  /**
   * Starts a command that is told things and answers.
   *
   * @param log takes what it writes on its error stream
   */
  static Process talk(List<String> command, Path log) {
    return start(command, log, Map.of());
  }

  /** Ends it as Ctrl-C would, by force when it takes too long, and all that it has started. */
  static void end(Process process) {
    end(List.of(process.toHandle()));
  }

  private static void end(List<ProcessHandle> children) {
    List<ProcessHandle> below = children.stream().flatMap(ProcessHandle::descendants).toList();
    children.forEach(ProcessHandle::destroy);
    CompletableFuture<?>[] ends =
        children.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new);
    try {
      CompletableFuture.allOf(ends).get(STOP_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException _) {
      // By force, then.
    }
    children.forEach(ProcessHandle::destroyForcibly);
    below.forEach(ProcessHandle::destroyForcibly);
  }

  static String lastWords(Path log, List<String> printed) {
    try {
      List<String> written = new ArrayList<>(printed);
      written.addAll(Files.exists(log) ? Files.readAllLines(log) : List.of());
      return String.join(
          System.lineSeparator(),
          written.subList(Math.max(0, written.size() - TOLD_LINES), written.size()));
    } catch (IOException e) {
      return "(its log " + log + " can not be read)";
    }
  }
}
