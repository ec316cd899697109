package firstlight.batcher;

import firstlight.batcher.Outcome.Ended;
import firstlight.batcher.Outcome.Refused;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.DeviceClaimed;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.MeshMessage;
import firstlight.protocol.RunStep;
import firstlight.protocol.StepResult;
import firstlight.protocol.Usage;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drives the scheduler: plan, let the device run the Step, apply, tell. One Step is in flight; what
 * comes meanwhile goes into the next one. All of it happens on the verticle's event loop.
 */
final class ReplicaLoop {
  private static final Logger LOG = LoggerFactory.getLogger(ReplicaLoop.class);

  /** Who is told. */
  interface Listener {
    /** Generations got on or ended; step 0: no Step caused it. */
    void outcomes(long step, List<Outcome> outcomes);

    /** The device runs the Step. */
    void planned(RunStep step);

    /** There is no device any more; all generations have been refused. */
    void deviceLost();
  }

  private final Vertx vertx;
  private final Context context;
  private final DeliveryOptions options;
  private final Function<DeviceCapacity, Scheduler> schedulers;
  private final Listener listener;

  /** Metrics are read on another thread. */
  private volatile @Nullable Device device;

  private final Preparations preparations;
  private boolean kicked;

  /** A claimed device and what it works for; replaced as a whole when it is lost. */
  private static final class Device {
    final DeviceClaimed claimed;
    final Scheduler scheduler;
    boolean busy;
    boolean checked;

    Device(DeviceClaimed claimed, Scheduler scheduler) {
      this.claimed = claimed;
      this.scheduler = scheduler;
    }
  }

  /**
   * Made on the event loop it is to run on.
   *
   * @param schedulers makes one for a device
   */
  ReplicaLoop(
      Vertx vertx,
      BatcherConfig config,
      Function<DeviceCapacity, Scheduler> schedulers,
      Listener listener) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.options = new DeliveryOptions().setSendTimeout(config.stepMax().toMillis());
    this.schedulers = schedulers;
    this.listener = listener;
    this.preparations = new Preparations(vertx);
  }

  /** A device is there. */
  void begin(DeviceClaimed claimed) {
    device = new Device(claimed, schedulers.apply(claimed.capacity()));
  }

  Optional<DeviceClaimed> claimed() {
    return Optional.ofNullable(device).map(now -> now.claimed);
  }

  Optional<Scheduler> scheduler() {
    return Optional.ofNullable(device).map(now -> now.scheduler);
  }

  void submit(GenerationSpec spec, int credit) {
    Device now = device;
    if (now != null && Preparations.needed(spec, now.scheduler.constraints())) {
      preparations.begin(spec, credit, now.scheduler.constraints(), new Prepared());
      return;
    }
    listener.outcomes(
        0,
        now == null
            ? List.of(new Refused(spec.id(), noDevice()))
            : now.scheduler.submit(spec, credit));
    kick();
  }

  /** Goes on with what had to be compiled first. */
  private final class Prepared implements Preparations.Listener {
    @Override
    public void accept(Preparations.Pending ready) {
      submit(ready.spec, ready.credit());
      if (ready.held) {
        hold(ready.spec.id(), true);
      }
    }

    @Override
    public void failed(GenerationSpec spec, MeshException failure) {
      listener.outcomes(0, List.of(new Refused(spec.id(), failure)));
    }
  }

  void cancel(GenerationId generation) {
    Optional<Usage> unbegun = preparations.cancel(generation);
    unbegun.ifPresent(
        usage ->
            listener.outcomes(
                0, List.of(new Ended(generation, FinishReason.CANCELLED, usage, new byte[0]))));
    scheduler().ifPresent(now -> listener.outcomes(0, now.cancel(generation)));
  }

  void credit(GenerationId generation, int tokens) {
    if (!preparations.credit(generation, tokens)) {
      scheduler().ifPresent(now -> now.credit(generation, tokens));
      kick();
    }
  }

  void hold(GenerationId generation, boolean hold) {
    if (!preparations.hold(generation, hold)) {
      scheduler().ifPresent(now -> now.hold(generation, hold));
      kick();
    }
  }

  /** Time passes also while nothing is planned. */
  void tick() {
    Device now = device;
    if (now == null) {
      return;
    }
    if (now.scheduler.idle() && !now.checked) {
      now.checked = true;
      guarded(now.scheduler::checkInvariants);
    }
    // A deadline may pass in the middle of a long Step.
    guarded(() -> listener.outcomes(0, now.scheduler.expire()));
    kick();
  }

  /** Sees to a Step soon: together with what else comes in this turn of the event loop. */
  private void kick() {
    if (!kicked) {
      kicked = true;
      context.runOnContext(
          _ -> {
            kicked = false;
            guarded(() -> advance(0, List.of()));
          });
    }
  }

  /**
   * Lets the device go on if it has nothing to do, and then tells what there is to tell: the device
   * works while that is packed and sent.
   *
   * @param done the Step that brought the outcomes, or 0
   */
  private void advance(long done, List<Outcome> outcomes) {
    Device now = device;
    if (now == null || now.busy) {
      return;
    }
    List<Outcome> expired = new ArrayList<>();
    Optional<RunStep> next = Optional.empty();
    try {
      expired.addAll(now.scheduler.expire());
      next = now.scheduler.plan();
      next.ifPresent(step -> run(now, step));
    } finally {
      // They happened, whether or not it goes on.
      listener.outcomes(done, outcomes);
      listener.outcomes(0, expired);
      next.ifPresent(listener::planned);
    }
  }

  /** A scheduler that broke its own rules, or was answered wrongly, can only begin anew. */
  private void guarded(Runnable turn) {
    try {
      turn.run();
    } catch (IllegalStateException e) {
      LOG.error("scheduling can not go on like this", e);
      lose(String.valueOf(e.getMessage()));
    }
  }

  private void run(Device now, RunStep step) {
    now.busy = true;
    now.checked = false;
    vertx
        .eventBus()
        .<MeshMessage>request(now.claimed.address(), step, options)
        .map(Message::body)
        .map(StepResult.class::cast)
        .onComplete(answer -> finish(now, answer.result(), answer.cause()));
  }

  private void finish(Device now, @Nullable StepResult result, @Nullable Throwable failure) {
    if (now != device) {
      return;
    }
    now.busy = false;
    if (result == null) {
      MeshException known = MeshException.fromReply(failure);
      lose("Step failed: " + known.getMessage(), code(known));
      return;
    }
    guarded(() -> advance(result.step(), now.scheduler.apply(result)));
  }

  /** The device is gone, and the keys and values of all Sequences with it. */
  void lose(String why) {
    lose(why, "device_lost");
  }

  private void lose(String why, String code) {
    LOG.warn("lost the device {}: {}", claimed().map(DeviceClaimed::address).orElse("-"), why);
    failAll(
        new MeshException(
            FailureKind.DEVICE_LOST,
            code,
            "The device that ran this request is gone. Send the request again."));
    listener.deviceLost();
  }

  /** Ends all generations and lets the device go. */
  void failAll(MeshException failure) {
    Device last = device;
    device = null;
    listener.outcomes(
        0, preparations.clear().stream().<Outcome>map(id -> new Refused(id, failure)).toList());
    if (last != null) {
      listener.outcomes(0, last.scheduler.failAll(failure));
    }
  }

  /** The name that the device gave its failure, if it did. */
  private static String code(MeshException failure) {
    return failure.kind() == FailureKind.DEVICE_LOST ? failure.code() : "device_lost";
  }

  static MeshException noDevice() {
    return new MeshException(
        FailureKind.UNAVAILABLE,
        "no_device",
        "This replica has no device at the moment. Try again.",
        null,
        1_000);
  }
}
