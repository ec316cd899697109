package firstlight.gpu;

import firstlight.gpu.cuda.CudaGraph;
import firstlight.gpu.cuda.CudaStream;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.Launch;
import firstlight.protocol.Time;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the parts of a check work with: the GPU, the clock, and where results go. */
final class CheckBench implements AutoCloseable {
  static final String COPY = "copy";
  static final String PRODUCTS = "products of many tokens";

  /** By how much tensor cores, which cut off, are further away than the simulated ones. */
  private static final int CUT_OFF = 16;

  private static final double ROUND_SECONDS = 0.005;
  private static final double ALL_SECONDS = 0.15;
  private static final int ROUNDS_MIN = 3;
  private static final int ROUNDS_MAX = 40;

  private final int ordinal;
  private final byte[] image;
  private final CheckSizes sizes;
  private final CheckReport report;
  private final Time time;
  private final Map<String, Double> limits = new HashMap<>();
  private Gpu gpu;
  private int wrong;

  CheckBench(int ordinal, byte[] image, CheckSizes sizes, CheckReport report, Time time) {
    this.ordinal = ordinal;
    this.image = image;
    this.sizes = sizes;
    this.report = report;
    this.time = time;
    gpu = Gpu.open(ordinal, image);
  }

  int ordinal() {
    return ordinal;
  }

  byte[] image() {
    return image;
  }

  Gpu gpu() {
    return gpu;
  }

  Kernels kernels() {
    return new Kernels(gpu);
  }

  CheckSizes sizes() {
    return sizes;
  }

  CheckReport report() {
    return report;
  }

  CheckMemory memory() {
    return new CheckMemory(gpu);
  }

  long nanos() {
    return time.nanos();
  }

  /** Comparisons that did not hold so far. */
  int wrong() {
    return wrong;
  }

  /** Takes the GPU anew, after something failed on it. */
  void renew() {
    gpu.close();
    Gpu.reset(ordinal);
    gpu = Gpu.open(ordinal, image);
  }

  /** A tolerance for numbers that are floats all the way, where nothing larger hides rounding. */
  double exact(double tolerance) {
    return sizes.isSimulated() ? tolerance : CUT_OFF * tolerance;
  }

  /** Whether numbers are near enough to those that plain arithmetic makes. */
  void compare(String kernel, String what, double tolerance, double[] actual, double[] expected) {
    double distance = KernelDistance.of(actual, expected);
    boolean right = distance <= tolerance;
    note(kernel, what, right, CheckReport.row("distance", distance, "tolerance", tolerance));
  }

  /** Whether something holds that has no distance, as that bits are equal. */
  void require(String kernel, String what, boolean holds) {
    note(kernel, what, holds, Map.of());
  }

  private void note(String kernel, String what, boolean right, Map<String, Object> how) {
    Map<String, Object> row = CheckReport.row("kernel", kernel, "case", what, "right", right);
    row.putAll(how);
    report.add(CheckStep.KERNELS, row);
    if (!right) {
      wrong++;
      report.say("  WRONG %s, %s %s", kernel, what, how);
    }
  }

  /** Notes what the GPU can do at most. */
  void limit(String name, double value) {
    limits.merge(name, value, Math::max);
  }

  /** What it can do at most; null: that was not measured. */
  @Nullable Double limit(String name) {
    return limits.get(name);
  }

  /** Its share of a limit; null where that was not measured. */
  @Nullable Double share(double value, String limit) {
    Double most = limits.get(limit);
    return most == null ? null : (Double) (value / most);
  }

  /** Seconds that launches take together. */
  double seconds(List<Launch> launches) {
    return seconds(() -> launches.forEach(gpu.stream()::launch));
  }

  /** Seconds that some work takes as one graph: the median of several rounds, after a first one. */
  double seconds(Runnable work) {
    CudaStream stream = gpu.stream();
    try (CudaGraph graph = stream.record(work)) {
      double first = round(graph, 1);
      if (sizes.isSimulated()) {
        return first;
      }
      int count = (int) Math.clamp(ROUND_SECONDS / round(graph, 1), 1, 1000);
      List<Double> rounds = new ArrayList<>();
      double all = 0;
      while (rounds.size() < ROUNDS_MIN || all < ALL_SECONDS && rounds.size() < ROUNDS_MAX) {
        double took = round(graph, count);
        all += took;
        rounds.add(took / count);
      }
      return median(rounds);
    }
  }

  private double round(CudaGraph graph, int count) {
    long start = time.nanos();
    for (int i = 0; i < count; i++) {
      gpu.stream().launch(graph);
    }
    gpu.stream().await();
    return (time.nanos() - start) / 1e9;
  }

  static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  @Override
  public void close() {
    gpu.close();
  }
}
