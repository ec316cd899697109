package firstlight.app;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The packed jar, run as a user runs it. What it prints is kept for a failed test's message. */
final class FirstlightProcess implements AutoCloseable {
  private static final Pattern SERVES = Pattern.compile("Firstlight serves at (http://\\S+) after");
  private static final Pattern JOINED = Pattern.compile("Node \\S+ .* is in the mesh after");
  private static final int START_SECONDS = 120;
  private static final int STOP_SECONDS = 10;

  private final Process process;
  private final List<String> printed = new ArrayList<>();
  private final CompletableFuture<URI> address = new CompletableFuture<>();

  private FirstlightProcess(Process process) {
    this.process = process;
    Thread reader = new Thread(this::read, "firstlight-output");
    reader.setDaemon(true);
    reader.start();
  }

  /** Starts {@code firstlight ARGUMENTS}. */
  static FirstlightProcess start(String... arguments) throws IOException {
    return start(Map.of(), arguments);
  }

  /**
   * Starts {@code firstlight ARGUMENTS}.
   *
   * @param environment what is set there beside ours
   */
  static FirstlightProcess start(Map<String, String> environment, String... arguments)
      throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(command(arguments))
            .directory(Sources.root().toFile())
            .redirectErrorStream(true);
    builder.environment().putAll(environment);
    return new FirstlightProcess(builder.start());
  }

  /** What starts {@code firstlight ARGUMENTS}. */
  static List<String> command(String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xmx4g",
            "--add-modules",
            "jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Djdk.incubator.vector.VECTOR_ACCESS_OOB_CHECK=0",
            "-Djava.net.preferIPv4Stack=true",
            "-Dfirstlight.home=" + Sources.root(),
            "-jar",
            System.getProperty("firstlight.jar")));
    command.addAll(List.of(arguments));
    return command;
  }

  /** A folder below target that nobody else uses. */
  static Path freshFolder(String name) throws IOException {
    Path target = Sources.root().resolve("app/target");
    Files.createDirectories(target);
    return Files.createTempDirectory(target, name + "-");
  }

  private void read() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        synchronized (printed) {
          printed.add(line);
        }
        Matcher serves = SERVES.matcher(line);
        if (serves.find()) {
          address.complete(URI.create(serves.group(1)));
        } else if (JOINED.matcher(line).find()) {
          address.complete(URI.create("none:/"));
        }
      }
    } catch (IOException e) {
      address.completeExceptionally(e);
    }
    address.completeExceptionally(new IllegalStateException("it ended"));
  }

  /** Waits until it serves. */
  URI address() throws Exception {
    try {
      return address.get(START_SECONDS, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("Firstlight did not start:\n" + output(), e);
    }
  }

  String output() {
    synchronized (printed) {
      return String.join("\n", printed);
    }
  }

  /** Waits for its end. */
  int exitCode() throws Exception {
    if (!process.waitFor(START_SECONDS, TimeUnit.SECONDS)) {
      throw new TimeoutException(output());
    }
    return process.exitValue();
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  /** As Ctrl-C does. */
  void interrupt() throws Exception {
    new ProcessBuilder("kill", "-INT", String.valueOf(process.pid())).start().waitFor();
  }

  /** As {@code kill -9} does. */
  void kill() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
