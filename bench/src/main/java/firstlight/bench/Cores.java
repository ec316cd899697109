package firstlight.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Which processor core a process runs on: what is measured has one of its own, and everything else
 * shares another. Where that can not be had, all run anywhere, and it is said.
 *
 * @param pinned whether processes are kept on their cores
 */
record Cores(boolean pinned) {
  private static final String MEASURED = "0";
  private static final String REST = "1";
  private static final int SECONDS_MAX = 10;

  /** Moves this process to the core for the rest; what it starts begins there. */
  static Cores take(Progress progress) {
    if (Runtime.getRuntime().availableProcessors() < 2) {
      progress.say("NOT PINNED: there is only one processor core; figures are not those of a core");
      return new Cores(false);
    }
    String self = Long.toString(ProcessHandle.current().pid());
    if (!succeeds(List.of("taskset", "-a", "-p", "-c", REST, self))) {
      progress.say(
          "NOT PINNED: taskset (package util-linux) is missing or may not be used, so no process"
              + " is kept on a core of its own; figures are not those of a core");
      return new Cores(false);
    }
    return new Cores(true);
  }

  /** The command, on the core of what is measured. */
  List<String> measured(List<String> command) {
    return on(MEASURED, command);
  }

  /** The command, on any core. */
  List<String> anywhere(List<String> command) {
    return on(MEASURED + "," + REST, command);
  }

  private List<String> on(String cores, List<String> command) {
    if (!pinned) {
      return command;
    }
    List<String> whole = new ArrayList<>(List.of("taskset", "-c", cores));
    whole.addAll(command);
    return whole;
  }

  private static boolean succeeds(List<String> command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(Path.of("/dev/null").toFile())
              .start();
      return process.waitFor(SECONDS_MAX, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException _) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchFailure("interrupted", e);
    }
  }
}
