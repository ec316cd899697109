package firstlight.bench;

import firstlight.protocol.Time;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * Looks whether others use the machine: with two cores, one of them busy makes every ratio wrong.
 *
 * @param foreignCoresMax what is tolerated
 * @param patienceSeconds how long a measurement waits for the machine to be quiet
 */
record Quiet(double foreignCoresMax, int patienceSeconds, Time time, Progress progress) {

  /** Waits until the machine is quiet, or patience ends. */
  void await() {
    long limit = time.nanos() + TimeUnit.SECONDS.toNanos(patienceSeconds);
    double foreign = overOneSecond();
    if (foreign > foreignCoresMax) {
      progress.say("others use %.2f cores; waiting up to %d s for them", foreign, patienceSeconds);
    }
    while (foreign > foreignCoresMax && time.nanos() < limit) {
      foreign = overOneSecond();
    }
  }

  private double overOneSecond() {
    CpuTimes before = now();
    try {
      TimeUnit.SECONDS.sleep(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchFailure("interrupted", e);
    }
    return now().foreignCores(before);
  }

  CpuTimes now() {
    try {
      return CpuTimes.read(time.nanos());
    } catch (IOException e) {
      throw new BenchFailure("the machine's load can not be read: benchmarks need Linux", e);
    }
  }

  boolean disturbs(double foreignCores) {
    return foreignCores > foreignCoresMax;
  }
}
