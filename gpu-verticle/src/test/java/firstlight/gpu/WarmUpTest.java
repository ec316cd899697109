package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Device;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.Numerics;
import firstlight.protocol.RunStep;
import firstlight.protocol.SimulatedTime;
import firstlight.protocol.StepResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WarmUpTest {
  private static final Duration LONG = Duration.ofHours(1);

  private final SimulatedTime time = new SimulatedTime();

  /** Takes as many milliseconds for each Step as it says, and keeps what it was given. */
  private final class Measured implements Device {
    private final DeviceCapacity capacity;
    private final List<RunStep> steps = new ArrayList<>();
    private final StepCheck check;
    private long millis;
    private long fasterBy;

    Measured(int blocks, int stepTokensMax, int contextMax, long millis) {
      capacity =
          new DeviceCapacity(
              "m", blocks, 16, stepTokensMax, contextMax, 7, new Numerics("f", "n", 0, "0"));
      check = new StepCheck(capacity);
      this.millis = millis;
    }

    @Override
    public DeviceCapacity capacity() {
      return capacity;
    }

    @Override
    public StepResult run(RunStep step) {
      check.check(step);
      steps.add(step);
      time.advance(Duration.ofMillis(millis));
      millis = Math.max(5, millis - fasterBy);
      return new StepResult(step.step(), List.of(), 0);
    }

    @Override
    public void close() {}
  }

  @Test
  void it_ends_when_rounds_are_no_longer_faster() {
    Measured device = new Measured(1000, 512, 8192, 5);
    new WarmUp(device, time).run(LONG);
    int round = device.steps.size() / 3;
    assertThat(device.steps).hasSize(3 * round);

    Measured learning = new Measured(1000, 512, 8192, 500);
    learning.fasterBy = 5;
    new WarmUp(learning, time).run(LONG);
    assertThat(learning.steps.size()).isBetween(100 + round, 100 + 4 * round);
  }

  @Test
  void it_ends_when_the_time_is_up() {
    Measured device = new Measured(1000, 512, 8192, 400);
    new WarmUp(device, time).run(Duration.ofSeconds(2));
    assertThat(device.steps).hasSize(5);
    Measured none = new Measured(1000, 512, 8192, 400);
    new WarmUp(none, time).run(Duration.ZERO);
    assertThat(none.steps).isEmpty();
  }

  @Test
  void steps_have_all_sizes_that_the_device_takes() {
    Measured device = new Measured(1000, 100, 8192, 1);
    new WarmUp(device, time).run(LONG);
    assertThat(device.steps.stream().map(step -> step.slices().size()))
        .contains(1, 2, 4, 8, 16, 32);
    assertThat(device.steps.stream().map(RunStep::tokens)).contains(1, 2, 4, 8, 16, 32, 64, 100);
    assertThat(device.steps.stream().flatMap(step -> step.slices().stream()))
        .anyMatch(slice -> slice.start() > Attention.SPLIT);
  }

  @Test
  void a_tiny_device_is_given_what_it_can_take() {
    for (int blocks = 1; blocks < 4; blocks++) {
      for (int tokens = 1; tokens < 4; tokens++) {
        Measured device = new Measured(blocks, tokens, 16, 1);
        new WarmUp(device, time).run(LONG);
        assertThat(device.steps).isNotEmpty();
      }
    }
  }
}
