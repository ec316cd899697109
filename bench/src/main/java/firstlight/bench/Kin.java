package firstlight.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * All processes that come from this one, known by a variable of their environment: servers such as
 * PostgreSQL leave the tree of processes when they start.
 */
final class Kin {
  /** Carries this process's id. */
  static final String VARIABLE = "FIRSTLIGHT_BENCH_PROCESS";

  private Kin() {}

  static String value() {
    return String.valueOf(ProcessHandle.current().pid());
  }

  /** Those that live now. */
  static List<ProcessHandle> all() {
    return ProcessHandle.allProcesses().filter(one -> isKin(one.pid())).toList();
  }

  private static boolean isKin(long pid) {
    try {
      return isKin(Files.readAllBytes(Path.of("/proc/" + pid + "/environ")));
    } catch (IOException _) {
      return false; // It has ended, or belongs to somebody else.
    }
  }

  /** Of a process's environment as the kernel shows it. */
  static boolean isKin(byte[] environment) {
    String entry = VARIABLE + "=" + value();
    return List.of(new String(environment, StandardCharsets.UTF_8).split("\0")).contains(entry);
  }
}
