package firstlight.bench;

import firstlight.protocol.Time;
import java.io.PrintStream;
import java.util.Locale;

/** Says on the error stream what is being done, with the time since the start. */
final class Progress {
  private final PrintStream out;
  private final Time time;
  private final long start;

  Progress(PrintStream out, Time time) {
    this.out = out;
    this.time = time;
    this.start = time.nanos();
  }

  synchronized void say(String format, Object... values) {
    long seconds = (time.nanos() - start) / 1_000_000_000;
    out.printf(
        Locale.ROOT,
        "[%d:%02d] %s%n",
        seconds / 60,
        seconds % 60,
        String.format(Locale.ROOT, format, values));
    out.flush();
  }
}
