package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Addresses;
import firstlight.protocol.ClaimDevice;
import firstlight.protocol.DeviceClaimed;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshCodec;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.RunStep;
import firstlight.protocol.SimulatedTime;
import firstlight.protocol.StepResult;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.Message;
import io.vertx.junit5.VertxExtension;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
class GpuVerticleTest {
  private static final NodeId NODE = new NodeId("n1");
  private static final String HERE = Addresses.deviceOn(NODE, "m");
  private static final ReplicaId FIRST = new ReplicaId("r1");
  private static final ReplicaId SECOND = new ReplicaId("r2");

  private final FakeDevice device = new FakeDevice();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final SimulatedTime time = new SimulatedTime();
  private Vertx vertx;

  @BeforeEach
  void remember(Vertx vertx) {
    this.vertx = vertx;
    MeshCodec.register(vertx.eventBus());
  }

  private GpuVerticle verticle(String name, Duration stepTimeLimit, Callable<FakeDevice> opener) {
    GpuConfig base = TestDevices.config(GpuConfig.Kernels.Q8);
    GpuConfig config =
        new GpuConfig(
            base.device(),
            base.kernels(),
            base.provider(),
            1,
            GpuConfig.KvType.F16,
            0,
            1,
            16,
            32,
            64,
            stepTimeLimit,
            Duration.ofSeconds(10),
            Duration.ZERO,
            base.cuda());
    return new GpuVerticle(
        config,
        NODE,
        new Devices.Dealt(name, opener),
        new GpuMetrics(registry, "m", name),
        time,
        "m");
  }

  private String deploy(Duration stepTimeLimit, Callable<FakeDevice> opener) throws Exception {
    return result(vertx.deployVerticle(verticle("gpu0", stepTimeLimit, opener)));
  }

  private String deploy() throws Exception {
    return deploy(Duration.ofSeconds(30), () -> device);
  }

  private static <T> T result(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  private static MeshException failure(Future<?> future) throws Exception {
    try {
      Object answer = result(future);
      throw new AssertionError("expected a failure, not " + answer);
    } catch (ExecutionException e) {
      return MeshException.fromReply(e.getCause());
    }
  }

  private Future<DeviceClaimed> claim(String address, ReplicaId replica) {
    return vertx
        .eventBus()
        .<DeviceClaimed>request(address, new ClaimDevice(replica))
        .map(Message::body);
  }

  private Future<DeviceClaimed> claimSoon() {
    return claim(HERE, FIRST).recover(_ -> vertx.timer(10).compose(_ -> claimSoon()));
  }

  private Future<StepResult> run(DeviceClaimed claimed, long step, int token) {
    RunStep run =
        new RunStep(step, List.of(Steps.slice("g", new int[] {token}, 3, new int[] {5}, 1)));
    return vertx.eventBus().<StepResult>request(claimed.address(), run).map(Message::body);
  }

  @Test
  void a_replica_that_claims_the_device_can_run_steps_on_the_devices_own_thread() throws Exception {
    deploy();
    DeviceClaimed claimed = result(claim(HERE, FIRST));
    assertThat(claimed.capacity()).isEqualTo(device.capacity());
    StepResult result = result(run(claimed, 4, 42));
    assertThat(result.step()).isEqualTo(4);
    assertThat(result.slices().getFirst().tokens().getFirst().id()).isEqualTo(42);
    assertThat(device.thread).isEqualTo("firstlight-device-m-gpu0");
    assertThat(registry.get("firstlight.device.step").timer().count()).isEqualTo(1);
    assertThat(registry.get("firstlight.device.up").gauge().value()).isEqualTo(1);
  }

  /** They are one deployment, as on a node. */
  @Test
  void each_device_of_a_model_works_for_its_own_replica() throws Exception {
    List<FakeDevice> devices = List.of(device, new FakeDevice());
    AtomicInteger made = new AtomicInteger();
    result(
        vertx.deployVerticle(
            () -> {
              int number = made.getAndIncrement();
              return verticle("gpu" + number, Duration.ofSeconds(30), () -> devices.get(number));
            },
            new DeploymentOptions().setInstances(2)));
    DeviceClaimed first = result(claim(HERE, FIRST));
    DeviceClaimed second = result(claim(HERE, SECOND));
    assertThat(second.address()).isNotEqualTo(first.address());
    result(run(first, 1, 7));
    assertThat(failure(run(second, FakeDevice.FAILING, 1)).kind())
        .isEqualTo(FailureKind.DEVICE_LOST);
    assertThat(result(run(first, 2, 7)).step()).isEqualTo(2);
    assertThat(devices.stream().mapToInt(each -> each.closed.get()).sum()).isEqualTo(1);
    assertThat(
            Stream.of("gpu0", "gpu1")
                .map(name -> registry.get("firstlight.device.step").tag("device", name).timer())
                .map(Timer::count))
        .containsExactlyInAnyOrder(2L, 0L);
  }

  @Test
  void any_device_of_the_model_can_be_asked_for() throws Exception {
    deploy();
    DeviceClaimed claimed = result(claim(Addresses.deviceOf("m"), FIRST));
    assertThat(result(run(claimed, 1, 7)).step()).isEqualTo(1);
  }

  @Test
  void a_claim_by_the_owner_changes_nothing_and_one_by_another_is_refused() throws Exception {
    deploy();
    DeviceClaimed claimed = result(claim(HERE, FIRST));
    assertThat(result(claim(HERE, FIRST))).isEqualTo(claimed);
    assertThat(failure(claim(HERE, SECOND)).kind()).isEqualTo(FailureKind.CONFLICT);
  }

  @Test
  void an_owner_that_is_silent_for_too_long_loses_the_device_and_its_steps_reach_nobody()
      throws Exception {
    deploy();
    DeviceClaimed old = result(claim(HERE, FIRST));
    time.advance(Duration.ofSeconds(9));
    result(run(old, 1, 7));
    time.advance(Duration.ofSeconds(9));
    assertThat(failure(claim(HERE, SECOND)).kind()).isEqualTo(FailureKind.CONFLICT);
    time.advance(Duration.ofSeconds(1));
    DeviceClaimed claimed = result(claim(HERE, SECOND));
    assertThat(result(run(claimed, 1, 8)).step()).isEqualTo(1);
    assertThat(failure(run(old, 2, 7)).kind()).isEqualTo(FailureKind.UNAVAILABLE);
  }

  @Test
  void a_step_that_does_not_fit_is_refused_and_the_next_one_runs() throws Exception {
    deploy();
    DeviceClaimed claimed = result(claim(HERE, FIRST));
    MeshException refused = failure(run(claimed, 1, 100));
    assertThat(refused.kind()).isEqualTo(FailureKind.INVALID_REQUEST);
    assertThat(refused).hasMessage("A Slice has the token 100; the vocabulary has 100.");
    assertThat(result(run(claimed, 2, 99)).step()).isEqualTo(2);
    assertThat(registry.get("firstlight.device.refused").counter().count()).isEqualTo(1);
  }

  @Test
  void a_device_that_fails_is_lost_and_opened_again() throws Exception {
    CountDownLatch opening = new CountDownLatch(1);
    AtomicInteger opened = new AtomicInteger();
    deploy(
        Duration.ofSeconds(30),
        () -> {
          if (opened.getAndIncrement() > 0) {
            opening.await();
          }
          return device;
        });
    DeviceClaimed claimed = result(claim(HERE, FIRST));
    assertThat(failure(run(claimed, FakeDevice.FAILING, 1)).kind())
        .isEqualTo(FailureKind.DEVICE_LOST);
    assertThat(failure(run(claimed, 2, 1)).kind()).isEqualTo(FailureKind.DEVICE_LOST);
    assertThat(failure(claim(HERE, FIRST)).kind()).isEqualTo(FailureKind.UNAVAILABLE);
    assertThat(registry.get("firstlight.device.up").gauge().value()).isZero();

    opening.countDown();
    DeviceClaimed again = result(claimSoon());

    assertThat(again.address()).isNotEqualTo(claimed.address());
    assertThat(result(run(again, 3, 1)).step()).isEqualTo(3);
    assertThat(failure(run(claimed, 4, 1)).kind()).isEqualTo(FailureKind.UNAVAILABLE);
    assertThat(registry.get("firstlight.device.up").gauge().value()).isEqualTo(1);
    assertThat(device.closed).hasValue(1);
    assertThat(opened).hasValue(2);
  }

  @Test
  void a_device_that_does_not_open_again_is_tried_until_it_does() throws Exception {
    AtomicInteger opened = new AtomicInteger();
    deploy(
        Duration.ofSeconds(30),
        () -> {
          int before = opened.getAndIncrement();
          if (before == 1 || before == 2) {
            throw new IllegalStateException("not yet");
          }
          return device;
        });
    DeviceClaimed claimed = result(claim(HERE, FIRST));
    assertThat(failure(run(claimed, FakeDevice.FAILING, 1)).kind())
        .isEqualTo(FailureKind.DEVICE_LOST);
    assertThat(result(run(result(claimSoon()), 2, 1)).step()).isEqualTo(2);
    assertThat(opened).hasValue(4);
    assertThat(device.closed).hasValue(1);
  }

  @Test
  void a_failure_that_the_device_names_is_told_by_that_name() throws Exception {
    deploy();
    DeviceClaimed claimed = result(claim(HERE, FIRST));
    assertThat(failure(run(claimed, FakeDevice.NAMED, 1)).code()).isEqualTo("device_out_of_memory");
  }

  @Test
  void a_device_that_fails_between_steps_is_opened_again() throws Exception {
    CountDownLatch openings = new CountDownLatch(2);
    deploy(
        Duration.ofSeconds(30),
        () -> {
          openings.countDown();
          return device;
        });
    DeviceClaimed claimed = result(claim(HERE, FIRST));
    device.brokenMeanwhile.set(true);
    assertThat(openings.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(device.closed).hasValue(1);
    assertThat(result(run(result(claimSoon()), 2, 1)).step()).isEqualTo(2);
    assertThat(failure(run(claimed, 3, 1)).kind()).isEqualTo(FailureKind.UNAVAILABLE);
  }

  @Test
  void a_device_that_does_not_answer_in_time_is_lost_until_it_does() throws Exception {
    deploy(Duration.ofMillis(50), () -> device);
    DeviceClaimed claimed = result(claim(HERE, FIRST));
    assertThat(failure(run(claimed, FakeDevice.WAITING, 1)).kind())
        .isEqualTo(FailureKind.DEVICE_LOST);
    assertThat(failure(run(claimed, 2, 1)).kind()).isEqualTo(FailureKind.DEVICE_LOST);
    assertThat(failure(claim(HERE, FIRST)).kind()).isEqualTo(FailureKind.UNAVAILABLE);
    assertThat(registry.get("firstlight.device.up").gauge().value()).isZero();
    device.gate.countDown();
    DeviceClaimed again = result(claimSoon());
    assertThat(registry.get("firstlight.device.up").gauge().value()).isEqualTo(1);
    assertThat(result(run(again, 2, 1)).step()).isEqualTo(2);
  }

  @Test
  void a_device_that_fails_late_is_opened_again_too() throws Exception {
    deploy(Duration.ofMillis(50), () -> device);
    DeviceClaimed claimed = result(claim(HERE, FIRST));
    Future<StepResult> late = run(claimed, FakeDevice.WAITING, 1);
    Future<StepResult> broken = run(claimed, FakeDevice.FAILING, 1);
    assertThat(failure(late).kind()).isEqualTo(FailureKind.DEVICE_LOST);
    assertThat(failure(broken).kind()).isEqualTo(FailureKind.DEVICE_LOST);
    device.gate.countDown();
    assertThat(result(run(result(claimSoon()), 2, 1)).step()).isEqualTo(2);
    assertThat(device.failed).hasValue(1);
    assertThat(device.closed).hasValue(1);
  }

  @Test
  void one_step_may_wait_behind_the_running_one_but_not_two() throws Exception {
    deploy();
    DeviceClaimed claimed = result(claim(HERE, FIRST));
    Future<StepResult> running = run(claimed, FakeDevice.WAITING, 1);
    Future<StepResult> waiting = run(claimed, 2, 1);
    assertThat(failure(run(claimed, 3, 1)).kind()).isEqualTo(FailureKind.OVERLOADED);
    device.gate.countDown();
    assertThat(result(running).step()).isEqualTo(FakeDevice.WAITING);
    assertThat(result(waiting).step()).isEqualTo(2);
  }

  @Test
  void a_device_that_can_not_be_opened_fails_the_deployment_with_its_own_words() throws Exception {
    Callable<FakeDevice> broken =
        () -> {
          throw new IllegalStateException("no such device");
        };
    try {
      deploy(Duration.ofSeconds(30), broken);
      throw new AssertionError("expected a failure");
    } catch (ExecutionException e) {
      assertThat(e.getCause()).hasMessage("no such device");
    }
  }

  @Test
  void undeploying_closes_the_device_once() throws Exception {
    String id = deploy();
    result(vertx.undeploy(id));
    assertThat(device.closed).hasValue(1);
  }
}
