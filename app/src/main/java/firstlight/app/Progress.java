package firstlight.app;

import firstlight.model.ModelStore;
import java.io.PrintWriter;

/** Shows how far a fetch is: one line that is written over. */
final class Progress {
  private static final long MIB = 1 << 20;

  private final PrintWriter out;
  private int shown;

  Progress(PrintWriter out) {
    this.out = out;
  }

  ModelStore.Progress of(String model) {
    return (phase, done, total) -> show(line(model, phase, done, total));
  }

  private static String line(String model, String phase, long done, long total) {
    if (total > 0) {
      return "%s: %s %d of %d MiB".formatted(model, phase, done / MIB, total / MIB);
    }
    return done > 0
        ? "%s: %s %d MiB".formatted(model, phase, done / MIB)
        : "%s: %s".formatted(model, phase);
  }

  private synchronized void show(String line) {
    out.print("\r" + line + " ".repeat(Math.max(0, shown - line.length())));
    out.flush();
    shown = line.length();
  }

  /** Ends the line, if there is one. */
  synchronized void end() {
    if (shown > 0) {
      out.println();
      out.flush();
      shown = 0;
    }
  }
}
