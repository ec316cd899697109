package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.DeviceClaimed;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.MeshCodec;
import firstlight.protocol.RunStep;
import firstlight.protocol.Time;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReplicaLoopTest {
  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  /** Writes down what it is told, on the loop's thread. */
  private static final class Log implements ReplicaLoop.Listener {
    final List<String> lines = new ArrayList<>();
    final CompletableFuture<List<String>> ended = new CompletableFuture<>();

    @Override
    public void outcomes(long step, List<Outcome> outcomes) {
      for (Outcome outcome : outcomes) {
        lines.add(outcome.getClass().getSimpleName() + " " + step);
        if (!(outcome instanceof Outcome.Emitted)) {
          ended.complete(List.copyOf(lines));
        }
      }
    }

    @Override
    public void planned(RunStep step) {
      lines.add("planned " + step.step());
    }

    @Override
    public void deviceLost() {
      ended.completeExceptionally(new AssertionError("the device is lost"));
    }
  }

  private static Scheduler scheduler(firstlight.protocol.DeviceCapacity capacity) {
    return new Scheduler(
        new SchedulerParts(
            GlassReplica.LIMITS,
            capacity,
            Specs::bytes,
            Time.system(),
            new Counts(),
            42,
            BlockHash::mixed));
  }

  @Test
  void the_device_works_on_the_next_step_while_the_last_ones_tokens_are_told() throws Exception {
    MeshCodec.register(vertx.eventBus());
    GlassDevice device = GlassDevice.of(64, 4, 64);
    new FakeGpu(vertx, device, "gpu-1").serve(TestReplica.NODE);
    Log log = new Log();
    BusyAtTelling telling = new BusyAtTelling(log);
    vertx.runOnContext(
        _ -> {
          ReplicaLoop loop =
              new ReplicaLoop(vertx, TestReplica.config(""), ReplicaLoopTest::scheduler, telling);
          telling.loop = loop;
          loop.begin(new DeviceClaimed("gpu-1", device.capacity()));
          loop.submit(Specs.of("g", 5, 3), 100);
        });
    assertThat(log.ended.get(10, TimeUnit.SECONDS))
        .containsExactly(
            "planned 1",
            "busy",
            "Emitted 1",
            "planned 2",
            "busy",
            "Emitted 2",
            "planned 3",
            "Emitted 3",
            "Ended 3");
  }

  /** Also notes whether the scheduler has a Step in flight when tokens are told. */
  private static final class BusyAtTelling implements ReplicaLoop.Listener {
    private final Log log;
    private ReplicaLoop loop;

    BusyAtTelling(Log log) {
      this.log = log;
    }

    @Override
    public void outcomes(long step, List<Outcome> outcomes) {
      if (!outcomes.isEmpty() && !loop.scheduler().orElseThrow().idle() && inFlight()) {
        log.lines.add("busy");
      }
      log.outcomes(step, outcomes);
    }

    /** Only then does planning fail. */
    private boolean inFlight() {
      try {
        loop.scheduler().orElseThrow().plan();
        return false;
      } catch (IllegalStateException e) {
        return true;
      }
    }

    @Override
    public void planned(RunStep step) {
      log.planned(step);
    }

    @Override
    public void deviceLost() {
      log.deviceLost();
    }
  }
}
