package firstlight.gpu;

import firstlight.protocol.RunStep;
import firstlight.protocol.StepResult;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What a device did, for operators. */
final class GpuMetrics {
  private final Timer steps;
  private final Counter tokens;
  private final Counter sampled;
  private final Counter refused;
  private final AtomicInteger up = new AtomicInteger();

  /**
   * @param device tells it from the node's other devices of the model
   */
  GpuMetrics(MeterRegistry registry, String model, String device) {
    Tags tags = Tags.of("model_name", model, "device", device);
    steps =
        Timer.builder("firstlight.device.step")
            .description("Time a device worked on a Step")
            .tags(tags)
            .publishPercentileHistogram()
            .register(registry);
    tokens = counter(registry, "firstlight.device.tokens", "Tokens that went through", tags);
    sampled = counter(registry, "firstlight.device.sampled", "Tokens that were chosen", tags);
    refused = counter(registry, "firstlight.device.refused", "Steps that were refused", tags);
    Gauge.builder("firstlight.device.up", up, AtomicInteger::get)
        .description("1 while the device can run Steps")
        .tags(tags)
        .strongReference(true)
        .register(registry);
  }

  private static Counter counter(
      MeterRegistry registry, String name, String description, Tags tags) {
    return Counter.builder(name).description(description).tags(tags).register(registry);
  }

  void ready() {
    up.set(1);
  }

  void lost() {
    up.set(0);
  }

  void refused() {
    refused.increment();
  }

  void ran(RunStep step, StepResult result) {
    steps.record(result.nanos(), TimeUnit.NANOSECONDS);
    tokens.increment(step.tokens());
    sampled.increment(result.slices().stream().mapToInt(slice -> slice.tokens().size()).sum());
  }
}
