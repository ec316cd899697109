package firstlight.batcher;

import firstlight.protocol.Addresses;
import firstlight.protocol.ClaimDevice;
import firstlight.protocol.DeviceClaimed;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.MeshMessage;
import firstlight.protocol.NodeId;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.Time;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks for a device: one of the same node before any other. */
final class DeviceClaim {
  private static final Logger LOG = LoggerFactory.getLogger(DeviceClaim.class);

  /** While a model loads there is nobody to answer; asking costs little. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  private static final Duration LOG_EVERY = Duration.ofSeconds(10);

  private final Vertx vertx;
  private final NodeId node;
  private final String model;
  private final ClaimDevice claim;
  private final DeliveryOptions options;
  private final Time time;
  private boolean closed;

  /** Who asks for what. */
  record Wish(ReplicaId replica, NodeId node, String model) {}

  DeviceClaim(Vertx vertx, Wish wish, Duration answerMax, Time time) {
    this.vertx = vertx;
    this.node = wish.node();
    this.model = wish.model();
    this.claim = new ClaimDevice(wish.replica());
    this.options = new DeliveryOptions().setSendTimeout(answerMax.toMillis());
    this.time = time;
  }

  /**
   * Asks until a device says yes.
   *
   * @return fails with {@link FailureKind#UNAVAILABLE} when none has after that time
   */
  Future<DeviceClaimed> claim(Duration max) {
    return attempt(new Search(time.nanos(), max), time.nanos());
  }

  private record Search(long since, Duration max) {}

  private Future<DeviceClaimed> attempt(Search search, long lastLog) {
    return ask(Addresses.deviceOn(node, model))
        .recover(_ -> ask(Addresses.deviceOf(model)))
        .recover(failure -> again(search, lastLog, MeshException.fromReply(failure)));
  }

  private Future<DeviceClaimed> again(Search search, long lastLog, MeshException failure) {
    long now = time.nanos();
    if (closed || now - search.since > search.max.toNanos()) {
      return Future.failedFuture(
          new MeshException(
              FailureKind.UNAVAILABLE,
              "no_device",
              "No device serves the model %s (%s).".formatted(model, failure.getMessage())));
    }
    boolean log = now - lastLog >= LOG_EVERY.toNanos();
    if (log) {
      LOG.info("still waiting for a device with the model {}", model);
    }
    return vertx.timer(PAUSE.toMillis()).compose(_ -> attempt(search, log ? now : lastLog));
  }

  /** Tells the device that its replica is still there; fails when the device is not. */
  Future<DeviceClaimed> renew(String address) {
    return ask(address);
  }

  private Future<DeviceClaimed> ask(String address) {
    return vertx
        .eventBus()
        .<MeshMessage>request(address, claim, options)
        .map(Message::body)
        .map(DeviceClaimed.class::cast);
  }

  /** Stops asking. */
  void close() {
    closed = true;
  }
}
