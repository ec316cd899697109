package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Device;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.FailureKind;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.MeshException;
import firstlight.protocol.RunStep;
import firstlight.protocol.StepResult;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A glass device that can die, hang or stall at a chosen Step, and that remembers how it was
 * treated: see {@link #verify()}.
 */
final class FaultyDevice implements Device {
  private static final int NEVER = Integer.MAX_VALUE;

  private final GlassDevice glass;
  private final List<String> complaints = new ArrayList<>();
  private @Nullable Thread thread;
  private int steps;
  private int dieAt = NEVER;
  private int stallAt = NEVER;
  private boolean stalled;
  private boolean abandoned;
  private int closings;

  FaultyDevice(DeviceCapacity capacity) {
    glass = new GlassDevice(capacity);
  }

  @Override
  public DeviceCapacity capacity() {
    return glass.capacity();
  }

  @Override
  public synchronized StepResult run(RunStep step) {
    note(thread == null || thread == Thread.currentThread(), "a Step came on another thread");
    note(closings == 0, "a Step came after the end");
    thread = Thread.currentThread();
    while (steps >= stallAt && steps < dieAt) {
      stalled = true;
      pause();
    }
    stalled = false;
    if (steps >= dieAt) {
      throw new MeshException(FailureKind.DEVICE_LOST, "device_lost", "The script says so.");
    }
    steps++;
    try {
      return glass.run(step);
    } catch (AssertionError e) {
      complaints.add(e.getMessage());
      throw e;
    }
  }

  private void pause() {
    try {
      wait();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void note(boolean holds, String complaint) {
    if (!holds) {
      complaints.add(complaint);
    }
  }

  /** Runs that many more Steps, then none any more. */
  synchronized void dieAfter(int more) {
    dieAt = steps + more;
    abandoned = true;
    notifyAll();
  }

  /** Runs that many more Steps, then keeps the next one until it is resumed. */
  synchronized void stallAfter(int more) {
    stallAt = steps + more;
    notifyAll();
  }

  synchronized void resume() {
    stallAt = NEVER;
    notifyAll();
  }

  /** Runs that many more Steps and never ends the next one. */
  synchronized void hangAfter(int more) {
    stallAfter(more);
    abandoned = true;
  }

  /** Whether it keeps a Step. */
  synchronized boolean stalled() {
    return stalled;
  }

  synchronized int steps() {
    return steps;
  }

  @Override
  public synchronized void close() {
    note(thread == null || thread == Thread.currentThread(), "it was closed on another thread");
    closings++;
    glass.close();
  }

  /** After the end of the mesh: the device was used as {@link Device} asks, and given back. */
  synchronized void verify() {
    assertThat(complaints).as("what the device has to complain about").isEmpty();
    if (!abandoned) {
      assertThat(closings).as("times the device was closed").isOne();
    }
  }
}
