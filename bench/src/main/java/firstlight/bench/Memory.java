package firstlight.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Resident memory of a process, in GiB.
 *
 * @param resident now
 * @param most the most there has been
 */
record Memory(double resident, double most) {
  private static final double KIB_IN_GIB = 1 << 20;

  /** All zero when the process has ended. */
  static Memory of(ProcessHandle process) {
    try {
      return parse(Files.readAllLines(Path.of("/proc/" + process.pid() + "/status")));
    } catch (IOException _) {
      return new Memory(0, 0);
    }
  }

  /** Of the lines of {@code /proc/PID/status}. */
  static Memory parse(List<String> lines) {
    return new Memory(value(lines, "VmRSS:"), value(lines, "VmHWM:"));
  }

  private static double value(List<String> lines, String name) {
    return lines.stream()
            .filter(line -> line.startsWith(name))
            .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
            .findFirst()
            .orElse(0)
        / KIB_IN_GIB;
  }

  /** Of several processes together, in GiB: what some of them share counts once among them. */
  static double together(List<ProcessHandle> processes) {
    double sum = 0;
    for (ProcessHandle process : processes) {
      try {
        Path file = Path.of("/proc/" + process.pid() + "/smaps_rollup");
        sum += value(Files.readAllLines(file), "Pss:");
      } catch (IOException _) {
        // It has just ended.
      }
    }
    return sum;
  }
}
