package firstlight.app;

import firstlight.protocol.Device;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.RunStep;
import firstlight.protocol.StepResult;
import java.util.concurrent.locks.LockSupport;

/** A glass device each of whose Steps takes a given time, as a real one's do. */
final class PacedDevice implements Device {
  private final GlassDevice glass;
  private final long stepNanos;

  PacedDevice(DeviceCapacity capacity, long stepNanos) {
    glass = new GlassDevice(capacity);
    this.stepNanos = stepNanos;
  }

  @Override
  public DeviceCapacity capacity() {
    return glass.capacity();
  }

  @Override
  public StepResult run(RunStep step) {
    long end = System.nanoTime() + stepNanos;
    StepResult result = glass.run(step);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
    return result;
  }

  @Override
  public void close() {
    glass.close();
  }
}
