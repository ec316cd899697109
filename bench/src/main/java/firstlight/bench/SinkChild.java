package firstlight.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.feedback.FeedbackConfig;
import firstlight.feedback.FeedbackVerticle;
import firstlight.lake.LakeConfig;
import firstlight.protocol.IdSource;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.security.SecureRandom;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The sink in a JVM of its own. Once so many Events can be queried it prints the figures as one
 * line of JSON, and ends.
 */
final class SinkChild {
  static final String RATE = "events/s";
  static final String RATE_LATER = "events/s, after the first quarter";
  static final String CPU = "CPU, µs an event";
  static final String RESIDENT = "resident at its most, MiB";
  static final String HEAP = "heap at its most, MiB";
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final double MIB = 1 << 20;

  private SinkChild() {}

  /** Arguments: settings as YAML, how many Events, instances of the verticle. */
  public static void main(String[] arguments) throws Exception {
    Settings settings = Settings.parse(arguments[0], System::getenv);
    FeedbackConfig config = FeedbackConfig.read(settings.section("feedback"));
    LakeConfig lake = LakeConfig.read(settings.section("lake"));
    settings.problems().throwIfAny();
    long count = Long.parseLong(arguments[1]);
    int instances = Integer.parseInt(arguments[2]);
    Time time = Time.system();
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    IdSource ids = new IdSource(new SecureRandom());
    Vertx vertx = Vertx.vertx();
    long begin = time.nanos();
    double cpu = cpuSeconds();
    vertx.deployVerticle(
        () -> new FeedbackVerticle(config, lake, time, ids, registry),
        new DeploymentOptions().setInstances(instances));
    long quarter = 0;
    long quarterAt = begin;
    long seen = 0;
    while (seen < count) {
      LockSupport.parkNanos(LOOK_NANOS);
      seen = visible(registry);
      if (quarter == 0 && seen >= count / 4) {
        quarter = seen;
        quarterAt = time.nanos();
      }
    }
    long end = time.nanos();
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(RATE, count / ((end - begin) / 1e9));
    figures.put(
        RATE_LATER, quarter < count ? (count - quarter) / ((end - quarterAt) / 1e9) : Double.NaN);
    figures.put(CPU, (cpuSeconds() - cpu) * 1e6 / count);
    figures.put(RESIDENT, 1024 * Memory.of(ProcessHandle.current()).most());
    figures.put(HEAP, heapMost() / MIB);
    System.out.println(new ObjectMapper().writeValueAsString(figures));
    System.exit(0);
  }

  private static long visible(SimpleMeterRegistry registry) {
    return (long)
        registry.find("firstlight.feedback.events").counters().stream()
            .mapToDouble(Counter::count)
            .sum();
  }

  private static double heapMost() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getPeakUsage)
        .mapToDouble(usage -> usage.getUsed())
        .sum();
  }

  private static double cpuSeconds() {
    return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
  }
}
