package firstlight.bench;

import firstlight.protocol.Time;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A server that has been started, until it is closed. */
final class RunningServer implements AutoCloseable {
  private static final int START_SECONDS = 180;
  private static final int LOOK_MILLIS = 10;
  private static final int ANSWER_MILLIS = 1_000;

  private final Server server;
  private final Process process;
  private final double startSeconds;

  private RunningServer(Server server, Process process, double startSeconds) {
    this.server = server;
    this.process = process;
    this.startSeconds = startSeconds;
  }

  /**
   * Returns when it serves.
   *
   * @throws BenchFailure it ended instead, or took too long
   */
  static RunningServer start(Server server, Time time) {
    long start = time.nanos();
    Process process = Child.serve(server.command(), server.log());
    while (!isReady(server)) {
      if (!process.isAlive() || time.nanos() - start > TimeUnit.SECONDS.toNanos(START_SECONDS)) {
        Child.end(process);
        throw new BenchFailure(
            "%s does not serve after %d s. Its last words:%n%s"
                .formatted(
                    server.name(),
                    (time.nanos() - start) / 1_000_000_000,
                    Child.lastWords(server.log(), List.of())));
      }
      pause();
    }
    return new RunningServer(server, process, (time.nanos() - start) / 1e9);
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchFailure("interrupted", e);
    }
  }

  private static boolean isReady(Server server) {
    try {
      URI uri = URI.create("http://127.0.0.1:" + server.port() + server.readyPath());
      HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
      connection.setConnectTimeout(ANSWER_MILLIS);
      connection.setReadTimeout(ANSWER_MILLIS);
      return connection.getResponseCode() == 200;
    } catch (IOException _) {
      return false;
    }
  }

  Server server() {
    return server;
  }

  /** From the command to the first 200. */
  double startSeconds() {
    return startSeconds;
  }

  /** Of the process alone, without children. */
  Memory memory() {
    return Memory.of(process.toHandle());
  }

  /**
   * The process, its children, and those that have left it but work in its folder, as PostgreSQL
   * does.
   */
  List<ProcessHandle> processes() {
    Path folder = server.log().toAbsolutePath().getParent();
    Stream<ProcessHandle> inFolder =
        ProcessHandle.allProcesses().filter(one -> worksIn(one.pid(), folder));
    return Stream.of(Stream.of(process.toHandle()), process.descendants(), inFolder)
        .flatMap(one -> one)
        .distinct()
        .toList();
  }

  private static boolean worksIn(long pid, Path folder) {
    try {
      return Files.readSymbolicLink(Path.of("/proc/" + pid + "/cwd")).startsWith(folder);
    } catch (IOException _) {
      return false; // It has ended, or belongs to somebody else.
    }
  }

  @Override
  public void close() {
    Child.end(process);
  }
}
