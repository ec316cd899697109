package firstlight.gpu;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.CudaProbe;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.KernelImages;
import firstlight.model.CacheFolder;
import firstlight.protocol.Time;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Says in a few minutes whether the kernels are right on this machine's GPU, and how fast it all is
 * beside what the GPU could do. Needs a driver and the JDK, and none of the services. What it
 * writes, {@code docs/gpu-check.md} says.
 */
final class GpuCheck {
  private static final int RIGHT = 0;
  private static final int WRONG = 1;
  private static final int NOT_RUN = 2;
  private static final String SIMULATED = "SIMULATED";

  private final CheckOptions options;
  private final CheckReport report;
  private final Time time;
  private final long start;
  private boolean isRight = true;

  GpuCheck(CheckOptions options, PrintStream out, Time time) {
    this.options = options;
    this.report = new CheckReport(out);
    this.time = time;
    start = time.nanos();
  }

  /** Ends the JVM with 0 if all kernels were right, 1 if not, 2 if nothing could be said. */
  public static void main(String[] arguments) throws IOException {
    CheckOptions options;
    try {
      options = CheckOptions.parse(arguments);
    } catch (IllegalArgumentException e) {
      System.err.print("gpu-check: %s%n%s".formatted(e.getMessage(), CheckOptions.USAGE));
      System.exit(NOT_RUN);
      return;
    }
    System.exit(new GpuCheck(options, System.out, Time.system()).run());
  }

  private int run() throws IOException {
    if (CudaProbe.probe() instanceof CudaProbe.Absent(String reason)) {
      report.say("gpu-check: %s", reason);
      return NOT_RUN;
    }
    KernelImages.Image image;
    try {
      CudaProbe.Gpu gpu = gpu();
      image = KernelImages.forGpu(gpu.major(), gpu.minor(), CacheFolder.ofUser());
    } catch (RuntimeException e) {
      report.say("gpu-check: %s", e.getMessage());
      return NOT_RUN;
    }
    return run(image, CheckStep.all(options));
  }

  private CudaProbe.Gpu gpu() {
    if (CudaProbe.probe() instanceof CudaProbe.Found(List<CudaProbe.Gpu> gpus, int _)) {
      return gpus.stream()
          .filter(gpu -> gpu.ordinal() == options.ordinal())
          .findFirst()
          .orElseThrow(() -> new IllegalArgumentException("there is no GPU " + options.ordinal()));
    }
    throw new IllegalStateException("a driver was there a moment ago");
  }

  /** The exit status. */
  int run(KernelImages.Image image, List<CheckStep> steps) throws IOException {
    CudaProbe.Gpu gpu = gpu();
    boolean isSimulated = gpu.name().startsWith(SIMULATED);
    CheckSizes sizes =
        isSimulated || options.isSmall() ? CheckSizes.small(isSimulated) : CheckSizes.full();
    report.put("check", "firstlight gpu-check");
    report.put("right", false);
    report.put("simulated", isSimulated);
    versions(gpu, image);
    PublishedFigures.put(report);
    try (CheckBench bench = new CheckBench(options.ordinal(), image.cubin(), sizes, report, time)) {
      for (CheckStep step : steps) {
        run(step, bench);
        finish(bench);
      }
    }
    report.say(
        "%s on %s after %.0f s; all results are in %s",
        isRight ? "right" : "NOT RIGHT", gpu.name(), elapsed(), options.json());
    return isRight ? RIGHT : WRONG;
  }

  private void versions(CudaProbe.Gpu gpu, KernelImages.Image image) {
    int driver =
        CudaProbe.probe() instanceof CudaProbe.Found(List<CudaProbe.Gpu> _, int version)
            ? version
            : 0;
    Map<String, Object> versions =
        CheckReport.row(
            "device", gpu.name(),
            "ordinal", gpu.ordinal(),
            "computeCapability", gpu.major() + "." + gpu.minor(),
            "multiprocessors", Gpu.nature(gpu.ordinal()).multiprocessors(),
            "memoryBytes", gpu.memoryBytes(),
            "driverForCuda", driver / 1000 + "." + driver % 1000 / 10,
            "kernels", image.architecture(),
            "kernelsFrom", image.origin().name(),
            "kernelsBytes", image.cubin().length,
            "java", System.getProperty("java.runtime.version"),
            "system", System.getProperty("os.version"));
    report.put("versions", versions);
    report.say(
        "GPU %d: %s, %s, %d MiB; driver for CUDA %s; kernels %s from %s; Java %s",
        gpu.ordinal(),
        gpu.name(),
        versions.get("computeCapability"),
        gpu.memoryBytes() >> 20,
        versions.get("driverForCuda"),
        image.architecture(),
        image.origin(),
        versions.get("java"));
  }

  private double elapsed() {
    return (time.nanos() - start) / 1e9;
  }

  private void run(CheckStep step, CheckBench bench) {
    if (elapsed() + step.seconds() > options.seconds()) {
      done(step, "skipped", 0, "may take %d s".formatted(step.seconds()));
      isRight &= !step.section().equals(CheckStep.KERNELS);
      return;
    }
    report.say("%s: %s", step.section(), step.name());
    int wrong = bench.wrong();
    double from = elapsed();
    try {
      step.body().run(bench);
      boolean held = bench.wrong() == wrong;
      isRight &= held;
      done(step, held ? "right" : "wrong", elapsed() - from, null);
    } catch (Exception | LinkageError e) {
      isRight = false;
      done(step, "failed", elapsed() - from, e.toString());
      renew(bench, e);
    }
  }

  private void done(CheckStep step, String status, double seconds, @Nullable String why) {
    report.add(
        "steps",
        CheckReport.row(
            "section", step.section(),
            "name", step.name(),
            "status", status,
            "seconds", seconds,
            "reason", why));
    report.say(
        "  %s: %s, %s, %.2f s%s",
        status, step.section(), step.name(), seconds, why == null ? "" : ": " + why);
  }

  /** What comes next finds the GPU usable, if that can be. */
  private void renew(CheckBench bench, Throwable failure) {
    if (failure instanceof CudaException cuda && cuda.kind() == CudaException.Kind.OUT_OF_MEMORY) {
      return;
    }
    try {
      bench.renew();
    } catch (RuntimeException e) {
      report.say("  the GPU can not be taken again: %s", e);
    }
  }

  /** Writes what there is so far: who is stopped in the middle leaves that. */
  private void finish(CheckBench bench) throws IOException {
    report.put("right", isRight);
    report.put("comparisonsWrong", bench.wrong());
    report.put("seconds", elapsed());
    report.write(options.json());
  }
}
