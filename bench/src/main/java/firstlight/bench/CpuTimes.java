package firstlight.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Processor time used since the machine started, in the kernel's ticks of 10 ms.
 *
 * @param all by everybody, and what the hypervisor took away
 * @param ours by this process and all it has started
 * @param nanos when it was read
 */
record CpuTimes(long all, long ours, long nanos) {
  private static final double TICK_NANOS = 1e7;
  private static final int USER = 1;
  private static final int IDLE = 4;
  private static final int WAITING = 5;
  private static final int STOLEN = 8;

  /** Of {@code /proc/PID/stat}, behind the name: own user and system time, ended children's. */
  private static final int[] PROCESS_TIMES = {11, 12, 13, 14};

  /** What others used per second since then, in cores. */
  double foreignCores(CpuTimes before) {
    double ticks = (all - before.all) - (ours - before.ours);
    return Math.max(0, ticks * TICK_NANOS / (nanos - before.nanos));
  }

  /**
   * @throws IOException this is not Linux
   */
  static CpuTimes read(long nanos) throws IOException {
    ProcessHandle self = ProcessHandle.current();
    long ours = 0;
    for (ProcessHandle one : Stream.concat(Stream.of(self), self.descendants()).toList()) {
      ours += ofProcess(one.pid());
    }
    return new CpuTimes(busy(Files.readAllLines(Path.of("/proc/stat"))), ours, nanos);
  }

  private static long ofProcess(long pid) throws IOException {
    try {
      return processTime(Files.readString(Path.of("/proc/" + pid + "/stat")));
    } catch (NoSuchFileException _) {
      return 0; // It has just ended; what it used will stand with its parent.
    }
  }

  /** Of the lines of {@code /proc/stat}: all that is neither idle nor waiting for a disk. */
  static long busy(List<String> lines) {
    String[] fields = lines.getFirst().trim().split("\\s+");
    long busy = 0;
    for (int i = USER; i <= STOLEN; i++) {
      busy += i == IDLE || i == WAITING ? 0 : Long.parseLong(fields[i]);
    }
    return busy;
  }

  /** Of the line in {@code /proc/PID/stat}. The process's name may have spaces and brackets. */
  static long processTime(String line) {
    String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
    long ticks = 0;
    for (int field : PROCESS_TIMES) {
      ticks += Long.parseLong(fields[field]);
    }
    return ticks;
  }
}
