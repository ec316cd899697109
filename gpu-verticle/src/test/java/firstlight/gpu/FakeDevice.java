package firstlight.gpu;

import firstlight.protocol.Device;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.Numerics;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.SliceResult;
import firstlight.protocol.StepResult;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Answers with the first token of each Slice, or as a test tells it. */
final class FakeDevice implements Device {
  /** A Step with this number waits for {@link #gate}; one with the next number fails. */
  static final long WAITING = 1_000_000;

  static final long FAILING = 1_000_001;

  /** Fails with a name. */
  static final long NAMED = 1_000_002;

  final CountDownLatch gate = new CountDownLatch(1);
  final AtomicInteger closed = new AtomicInteger();
  final AtomicInteger failed = new AtomicInteger();
  volatile String thread = "";

  /** It fails when somebody looks, once. */
  final AtomicBoolean brokenMeanwhile = new AtomicBoolean();

  @Override
  public DeviceCapacity capacity() {
    return new DeviceCapacity(
        "fake", 8, 16, 32, 64, 100, new Numerics("fake", "none", 0, "0".repeat(64)));
  }

  @Override
  public StepResult run(RunStep step) {
    thread = Thread.currentThread().getName();
    if (step.step() == FAILING) {
      failed.incrementAndGet();
      throw new IllegalStateException("planted");
    }
    if (step.step() == NAMED) {
      throw new MeshException(FailureKind.DEVICE_LOST, "device_out_of_memory", "planted");
    }
    if (step.step() == WAITING) {
      try {
        gate.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    List<SliceResult> results =
        step.slices().stream()
            .map(
                slice ->
                    new SliceResult(
                        slice.generation(),
                        List.of(new SampledToken(slice.tokens()[0], 0, new int[0], new float[0]))))
            .toList();
    return new StepResult(step.step(), results, 5);
  }

  @Override
  public void check() {
    if (brokenMeanwhile.compareAndSet(true, false)) {
      throw new MeshException(FailureKind.DEVICE_LOST, "device_lost", "planted");
    }
  }

  @Override
  public void close() {
    closed.incrementAndGet();
  }
}
