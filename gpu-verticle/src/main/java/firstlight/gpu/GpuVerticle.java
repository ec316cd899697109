package firstlight.gpu;

import firstlight.protocol.Addresses;
import firstlight.protocol.ClaimDevice;
import firstlight.protocol.Device;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.DeviceClaimed;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.RunStep;
import firstlight.protocol.StepResult;
import firstlight.protocol.Time;
import firstlight.protocol.ToDevice;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.eventbus.ReplyException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers for one device on the event bus. A replica claims it and is told an address for its
 * Steps; each owner gets another, so that Steps of one that was taken for dead reach nobody.
 *
 * <p>A device that failed, in a Step or between Steps, is lost with all it held: claims find
 * nobody, Steps are answered with {@link FailureKind#DEVICE_LOST}, and it is closed and opened
 * again, until that succeeds. One that has not answered in time is lost until it does, for it may
 * be the machine that stood still.
 */
public final class GpuVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(GpuVerticle.class);

  /** Steps that may be with the device at once: one that runs, one that was planned meanwhile. */
  private static final int STEPS_MAX = 2;

  /** The first attempt to open a failed device again is made at once, each later one waits. */
  private static final long REOPEN_FIRST_MS = 100;

  private static final long REOPEN_MAX_MS = 30_000;

  /** How often a device without Steps is looked at. */
  private static final long CHECK_MS = 500;

  private final GpuConfig config;
  private final NodeId node;
  private final String model;
  private final Devices.Dealt dealt;

  /** The device, in the log. */
  private final String label;

  private final GpuMetrics metrics;
  private final Time time;
  private final DeviceOwner owner;
  private final List<MessageConsumer<ClaimDevice>> claims = new ArrayList<>();

  private @Nullable DeviceThread thread;

  /** Of the device's thread alone. */
  private @Nullable Device opened;

  private @Nullable Device device;
  private @Nullable StepCheck check;
  private @Nullable MessageConsumer<ToDevice> steps;
  private long term;
  private int running;

  /** Steps among those that have not ended in time. */
  private int overdue;

  /** A look at the idle device has not ended. */
  private boolean looking;

  private boolean failed;
  private long reopenMillis;
  private volatile boolean stopped;

  /**
   * @param node on which this runs
   * @param model the name of the model the device will have loaded
   * @param dealt the device; opening it may block, and happens on the device's own thread
   */
  public GpuVerticle(
      GpuConfig config, NodeId node, String model, Devices.Dealt dealt, MeterRegistry registry) {
    this(config, node, dealt, new GpuMetrics(registry, model, dealt.name()), Time.system(), model);
  }

  GpuVerticle(
      GpuConfig config,
      NodeId node,
      Devices.Dealt dealt,
      GpuMetrics metrics,
      Time time,
      String model) {
    this.config = config;
    this.node = node;
    this.model = model;
    this.dealt = dealt;
    this.label = dealt.name() + " for " + model;
    this.metrics = metrics;
    this.time = time;
    this.owner = new DeviceOwner(time, config.ownerTimeout());
  }

  @Override
  public Future<?> start() {
    DeviceThread ours =
        new DeviceThread("firstlight-device-" + model + "-" + dealt.name(), context);
    thread = ours;
    vertx.setPeriodic(CHECK_MS, _ -> look(ours));
    return ours.call(this::open).compose(this::ready);
  }

  /** An idle device that has failed would hold up others that share its GPU. */
  private void look(DeviceThread on) {
    Device ours = device;
    if (stopped || ours == null || lost() || running > 0 || looking) {
      return;
    }
    looking = true;
    on.call(
            () -> {
              ours.check();
              return ours;
            })
        .onComplete(
            (_, failure) -> {
              looking = false;
              if (failure != null && !stopped) {
                breakDown("it failed between Steps");
              }
            });
  }

  private Future<?> ready(Device now) {
    device = now;
    check = new StepCheck(now.capacity());
    return announce();
  }

  private Device open() throws Exception {
    LOG.info("opening the device {}", label);
    Device made = dealt.opener().call();
    try {
      new WarmUp(made, time).run(config.warmUp());
      opened = made;
      return made;
    } catch (RuntimeException e) {
      made.close();
      throw e;
    }
  }

  private Future<?> announce() {
    claims.add(vertx.eventBus().consumer(Addresses.deviceOn(node, model), this::onClaim));
    claims.add(vertx.eventBus().consumer(Addresses.deviceOf(model), this::onClaim));
    return Future.all(claims.stream().map(MessageConsumer::completion).toList())
        .onSuccess(
            _ -> {
              metrics.ready();
              LOG.info("the device {} is ready", label);
            });
  }

  /** The owner sends its Steps here, and renews its claim. */
  private void onWork(Message<ToDevice> message) {
    switch (message.body()) {
      case RunStep step -> onStep(message, step);
      case ClaimDevice claim -> claim(message, claim);
    }
  }

  private void onClaim(Message<ClaimDevice> message) {
    claim(message, message.body());
  }

  private void claim(Message<?> message, ClaimDevice claim) {
    try {
      DeviceCapacity capacity = capacity();
      long claimed = owner.claim(claim.replica());
      listen(address(claimed), claimed)
          .onSuccess(_ -> message.reply(new DeviceClaimed(address(claimed), capacity)))
          .onFailure(e -> refuse(message, e));
    } catch (MeshException e) {
      refuse(message, e);
    }
  }

  /** Verticles that are deployed together have one deployment's id, but each its own device. */
  private String address(long claimed) {
    String here = Addresses.deviceOn(node, model) + ".steps." + deploymentID();
    return here + "." + dealt.name() + "." + claimed;
  }

  /** Takes Steps at the owner's address, and at no other any more. */
  private Future<?> listen(String address, long claimed) {
    if (claimed == term && steps != null) {
      return steps.completion();
    }
    if (steps != null) {
      steps.unregister();
    }
    term = claimed;
    MessageConsumer<ToDevice> consumer = vertx.eventBus().consumer(address, this::onWork);
    steps = consumer;
    return consumer.completion();
  }

  private void onStep(Message<?> message, RunStep step) {
    owner.sign();
    try {
      runnable(step);
    } catch (MeshException e) {
      metrics.refused();
      refuse(message, e);
      return;
    }
    running++;
    long timer =
        vertx.setTimer(
            config.stepTimeLimit().toMillis(),
            _ -> {
              lose("a Step has not ended within " + config.stepTimeLimit());
              overdue++;
              refuse(message, deviceLost());
            });
    run(step)
        .onComplete(
            answer -> {
              running--;
              owner.sign();
              if (vertx.cancelTimer(timer)) {
                reply(message, step, answer);
              } else {
                late(answer);
              }
            });
  }

  /** A Step has ended after all. */
  private void late(AsyncResult<StepResult> answer) {
    overdue--;
    if (answer.failed()) {
      breakDown("a Step failed");
    }
    if (!lost() && running == 0) {
      LOG.warn("the device {} is back", label);
      claims.clear();
      announce();
    }
  }

  private boolean lost() {
    return failed || overdue > 0;
  }

  /**
   * @throws MeshException the Step can not be run
   */
  private void runnable(RunStep step) {
    if (lost() || check == null) {
      throw deviceLost();
    }
    if (running >= STEPS_MAX) {
      throw new MeshException(
          FailureKind.OVERLOADED, "device_busy", "The device has enough Steps to run.");
    }
    check.check(step);
  }

  private Future<StepResult> run(RunStep step) {
    Device ours = device;
    DeviceThread on = thread;
    return ours == null || on == null
        ? Future.failedFuture(deviceLost())
        : on.call(() -> ours.run(step));
  }

  private void reply(Message<?> message, RunStep step, AsyncResult<StepResult> answer) {
    if (answer.succeeded()) {
      metrics.ran(step, answer.result());
      message.reply(answer.result());
    } else {
      if (!(answer.cause() instanceof MeshException known)
          || known.kind() == FailureKind.DEVICE_LOST) {
        LOG.error("a Step failed", answer.cause());
        breakDown("a Step failed");
        refuse(message, answer.cause() instanceof MeshException named ? named : deviceLost());
      } else {
        metrics.refused();
        refuse(message, known);
      }
    }
  }

  private void lose(String why) {
    if (!lost()) {
      LOG.error("the device {} is lost: {}", label, why);
      metrics.lost();
      claims.forEach(MessageConsumer::unregister);
    }
  }

  /** What the device held is gone; another may be made in its place. */
  private void breakDown(String why) {
    lose(why);
    if (!failed) {
      failed = true;
      owner.release();
      reopenMillis = REOPEN_FIRST_MS;
      reopen();
    }
  }

  private void reopen() {
    DeviceThread on = thread;
    if (on == null || stopped) {
      return;
    }
    device = null;
    on.call(this::openAgain)
        .onSuccess(
            now -> {
              failed = false;
              LOG.info("the device {} was opened again", label);
              claims.clear();
              ready(now);
            })
        .onFailure(
            failure -> {
              LOG.warn("the device {} does not open: {}", label, failure.toString());
              vertx.setTimer(reopenMillis, _ -> reopen());
              reopenMillis = Math.min(2 * reopenMillis, REOPEN_MAX_MS);
            });
  }

  private Device openAgain() throws Exception {
    closeOpened();
    if (stopped) {
      throw new IllegalStateException("the node stops");
    }
    return open();
  }

  private void closeOpened() {
    Device broken = opened;
    opened = null;
    if (broken != null) {
      broken.close();
    }
  }

  private DeviceCapacity capacity() {
    if (device == null) {
      throw deviceLost();
    }
    return device.capacity();
  }

  private static MeshException deviceLost() {
    return new MeshException(
        FailureKind.DEVICE_LOST, "device_lost", "The device that ran the model is gone.");
  }

  private static void refuse(Message<?> message, Throwable failure) {
    ReplyException reply = MeshException.fromReply(failure).toReply();
    message.fail(reply.failureCode(), reply.getMessage());
  }

  @Override
  public Future<?> stop() {
    stopped = true;
    metrics.lost();
    DeviceThread on = thread;
    if (on == null) {
      return Future.succeededFuture();
    }
    Future<?> closed =
        on.call(
            () -> {
              closeOpened();
              return model;
            });
    on.end();
    // A device that hangs is left to its thread: it would hold the stop up.
    return lost() ? Future.succeededFuture() : closed;
  }
}
