package firstlight.app;

import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A JVM of the tests' own classes that can be killed, stopped and started again. It ends when this
 * JVM does, for then its standard input ends. Its main method calls {@link #begin} and {@link
 * #serve}.
 */
final class ChildJvm implements AutoCloseable {
  private static final String READY = "READY ";
  private static final Duration START_LIMIT = Duration.ofSeconds(90);
  private static final int STOP_SECONDS = 20;

  private final Process process;
  private final Path log;

  private ChildJvm(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /**
   * Starts it; {@link #await} waits until it serves.
   *
   * @param log where it prints; what an earlier one printed there is gone
   * @param options of the JVM
   */
  static ChildJvm start(Path log, List<String> options, Class<?> main, Object... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "--add-modules",
            "jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Djava.net.preferIPv4Stack=true"));
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    Files.deleteIfExists(log);
    return new ChildJvm(
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start(),
        log);
  }

  /** Waits until it has called {@link #serve}. */
  ChildJvm await() throws Exception {
    Eventually.holds(
        START_LIMIT,
        log.getFileName() + " is ready",
        () -> {
          if (!process.isAlive()) {
            throw new AssertionError("it ended:\n" + Files.readString(log));
          }
          return said().isPresent();
        });
    return this;
  }

  private Optional<String> said() throws IOException {
    try (var lines = Files.lines(log)) {
      return lines.filter(line -> line.startsWith(READY)).findFirst();
    }
  }

  boolean alive() {
    return process.isAlive();
  }

  /** As {@code kill -9}; returns when it is gone. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /** It stands still from now on, with all its connections open. */
  void freeze() throws Exception {
    signal("-STOP");
  }

  void thaw() throws Exception {
    signal("-CONT");
  }

  private void signal(String name) throws Exception {
    int code = new ProcessBuilder("kill", name, "" + process.pid()).start().waitFor();
    if (code != 0) {
      throw new AssertionError("kill %s failed with %d".formatted(name, code));
    }
  }

  /** Stops it as an operator does, or by force when that takes too long. */
  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        kill();
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  /** The child's first act: it ends with whoever started it, and when its own start fails. */
  static void begin() {
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, failure) -> {
          failure.printStackTrace();
          if (thread.getName().equals("main")) {
            Runtime.getRuntime().halt(1);
          }
        });
    Thread.ofPlatform().daemon().name("parent").start(ChildJvm::watch);
  }

  private static void watch() {
    try {
      while (System.in.read() >= 0) {
        // Nothing is ever said.
      }
    } catch (IOException _) {
      // As its end.
    }
    Runtime.getRuntime().halt(1);
  }

  /** The child's last act: it serves until it is asked to end, and then undeploys its verticles. */
  static void serve(Vertx vertx) throws InterruptedException {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> vertx.close().toCompletionStage().toCompletableFuture().join()));
    serve();
  }

  /** The same without verticles. */
  static void serve() throws InterruptedException {
    System.out.println(READY);
    System.out.flush();
    Thread.currentThread().join();
  }
}
