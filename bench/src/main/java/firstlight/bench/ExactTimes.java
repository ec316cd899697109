package firstlight.bench;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.cumulative.CumulativeTimer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A registry that keeps each value of one kind of timer, where others have buckets. */
final class ExactTimes extends SimpleMeterRegistry {
  private final String name;
  private final List<Double> millis = new ArrayList<>();

  ExactTimes(String name) {
    this.name = name;
  }

  /** What was recorded since the last call. */
  List<Double> takeMillis() {
    synchronized (millis) {
      List<Double> taken = List.copyOf(millis);
      millis.clear();
      return taken;
    }
  }

  @Override
  protected Timer newTimer(Meter.Id id, DistributionStatisticConfig config, PauseDetector pauses) {
    return id.getName().equals(name)
        ? new KeptTimer(id, config, pauses)
        : super.newTimer(id, config, pauses);
  }

  private final class KeptTimer extends CumulativeTimer {
    KeptTimer(Meter.Id id, DistributionStatisticConfig config, PauseDetector pauses) {
      super(id, ExactTimes.this.clock, config, pauses, TimeUnit.SECONDS, false);
    }

    @Override
    protected void recordNonNegative(long amount, TimeUnit unit) {
      super.recordNonNegative(amount, unit);
      synchronized (millis) {
        millis.add(unit.toNanos(amount) / 1e6);
      }
    }
  }
}
