package firstlight.bench;

import firstlight.protocol.Time;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Looks whether others use the machine: with two cores, one of them busy makes every ratio wrong.
 *
 * @param foreignCoresMax what is tolerated
 * @param patienceSeconds how long a measurement waits for the machine to be quiet
 * @param times reads what the processors did
 * @param pause takes a second
 */
record Quiet(
    double foreignCoresMax,
    int patienceSeconds,
    Supplier<CpuTimes> times,
    Runnable pause,
    Progress progress) {

  /** Of this machine. */
  static Quiet here(double foreignCoresMax, int patienceSeconds, Time time, Progress progress) {
    return new Quiet(
        foreignCoresMax, patienceSeconds, () -> read(time), Quiet::sleepSecond, progress);
  }

  /** Waits until the machine is quiet, or patience ends. */
  void await() {
    double foreign = overOneSecond();
    if (foreign > foreignCoresMax) {
      progress.say("others use %.2f cores; waiting up to %d s", foreign, patienceSeconds);
    }
    for (int waited = 0; foreign > foreignCoresMax && waited < patienceSeconds; waited++) {
      foreign = overOneSecond();
    }
  }

  private double overOneSecond() {
    CpuTimes before = now();
    pause.run();
    return now().foreignCores(before);
  }

  CpuTimes now() {
    return times.get();
  }

  private static CpuTimes read(Time time) {
    try {
      return CpuTimes.read(time.nanos());
    } catch (IOException e) {
      throw new BenchFailure("the machine's load can not be read: benchmarks need Linux", e);
    }
  }

  private static void sleepSecond() {
    try {
      TimeUnit.SECONDS.sleep(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchFailure("interrupted", e);
    }
  }

  boolean disturbs(double foreignCores) {
    return foreignCores > foreignCoresMax;
  }
}
