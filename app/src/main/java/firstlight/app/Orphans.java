package firstlight.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Children of a launcher that was killed live on and hold the data; the next launcher ends them.
 */
final class Orphans {
  private static final int STOP_SECONDS = 10;

  private Orphans() {}

  /**
   * Ends the process whose number is the first line of the file, if it is still the program meant.
   *
   * @throws IOException when it does not end
   */
  static void stop(Path pidFile, String program) throws IOException {
    if (!Files.isRegularFile(pidFile)) {
      return;
    }
    Optional<ProcessHandle> orphan = process(pidFile).filter(process -> runs(process, program));
    if (orphan.isPresent()) {
      orphan.get().destroy();
      try {
        orphan.get().onExit().get(STOP_SECONDS, TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        throw new IOException(
            "process " + orphan.get().pid() + " holds the data and does not end", e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }
    Files.deleteIfExists(pidFile);
  }

  private static Optional<ProcessHandle> process(Path pidFile) throws IOException {
    String first = Files.readString(pidFile).lines().findFirst().orElse("").trim();
    return first.matches("\\d{1,9}") ? ProcessHandle.of(Long.parseLong(first)) : Optional.empty();
  }

  private static boolean runs(ProcessHandle process, String program) {
    return process.info().command().map(command -> command.contains(program)).orElse(false);
  }
}
