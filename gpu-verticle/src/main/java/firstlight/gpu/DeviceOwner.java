package firstlight.gpu;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.Time;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Whom a device works for. One replica at a time, for as long as it gives signs of life: Steps, or
 * its claim once more. Each change of owner begins a new term.
 */
final class DeviceOwner {
  private final Time time;
  private final Duration timeout;
  private @Nullable ReplicaId replica;
  private long lastSignNanos;
  private long term;

  DeviceOwner(Time time, Duration timeout) {
    this.time = time;
    this.timeout = timeout;
  }

  /**
   * Makes it the owner, if it is not yet.
   *
   * @return the owner's term
   * @throws MeshException of kind CONFLICT while another owner is alive
   */
  long claim(ReplicaId claimant) {
    if (!claimant.equals(replica)) {
      if (isAlive()) {
        throw new MeshException(
            FailureKind.CONFLICT, "device_claimed", "The device works for another replica.");
      }
      replica = claimant;
      term++;
    }
    sign();
    return term;
  }

  /** The device holds nothing of its owner's any more: whoever comes next begins a new term. */
  void release() {
    replica = null;
  }

  /** The owner did something. */
  void sign() {
    lastSignNanos = time.nanos();
  }

  private boolean isAlive() {
    return replica != null && time.nanos() - lastSignNanos < timeout.toNanos();
  }
}
