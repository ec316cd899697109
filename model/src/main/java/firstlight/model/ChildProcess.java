package firstlight.model;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A program that is run to its end, and never outlives who waits for it: it is killed, with its own
 * children, when the waiting thread is interrupted or fails, and when this JVM ends.
 */
final class ChildProcess {
  /** Done while waiting. */
  interface Look {
    void look() throws IOException;
  }

  private static final long KILLED_SECONDS_MAX = 5;

  private final List<String> command;
  private final Path folder;
  private final Path log;

  /**
   * @param folder where it runs, and keeps its temporary files
   * @param log where all it prints goes
   */
  ChildProcess(List<String> command, Path folder, Path log) {
    this.command = command;
    this.folder = folder;
    this.log = log;
  }

  /** Its exit status. */
  int await(Look look) throws IOException, InterruptedException {
    Process process = start();
    Thread killer = new Thread(() -> kill(process));
    try {
      Runtime.getRuntime().addShutdownHook(killer);
      while (!process.waitFor(GrowthWatch.LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        look.look();
      }
      return process.exitValue();
    } catch (IllegalStateException _) {
      throw new InterruptedException("the JVM is ending");
    } finally {
      kill(process);
      forget(killer);
      process.waitFor(KILLED_SECONDS_MAX, TimeUnit.SECONDS);
    }
  }

  private Process start() {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().put("TMPDIR", folder.toString());
    builder.environment().put("PYTHONUNBUFFERED", "1");
    try {
      Process process = builder.start();
      // Nothing to read for it: it must not wait for a person.
      process.getOutputStream().close();
      return process;
    } catch (IOException _) {
      throw new ModelStoreException(
          ("The program %s cannot be run. Install Python 3 with pip, or name a local file as the"
                  + " model's source.")
              .formatted(command.getFirst()));
    }
  }

  private static void kill(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  private static void forget(Thread killer) {
    try {
      Runtime.getRuntime().removeShutdownHook(killer);
    } catch (IllegalStateException _) {
      // The JVM is ending, and the hook has run or will.
    }
  }
}
