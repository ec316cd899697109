package firstlight.gpu;

import java.util.ArrayList;
import java.util.List;

/**
 * A part of the check that can fail alone.
 *
 * @param section of the report that its results go to
 * @param seconds how long it may take on a large GPU; it is left out where that is too long
 */
record CheckStep(String section, String name, int seconds, Body body) {
  /** Section of the comparisons, which decide whether all is right. */
  static final String KERNELS = "kernels";

  /** What is done; anything that it throws is reported. */
  @FunctionalInterface
  interface Body {
    void run(CheckBench bench) throws Exception;
  }

  /** All parts in their order: first whether it is right, then how fast it is. */
  static List<CheckStep> all(CheckOptions options) {
    List<CheckStep> all = new ArrayList<>();
    all.add(new CheckStep(KERNELS, "products", 6, ProductCheck::run));
    all.add(new CheckStep(KERNELS, "weights", 6, WeightCheck::run));
    all.add(new CheckStep(KERNELS, "rows", 3, RowCheck::run));
    all.add(new CheckStep(KERNELS, "rotation", 3, RotationCheck::run));
    all.add(new CheckStep(KERNELS, "attention", 5, AttentionCheck::run));
    all.add(new CheckStep(KERNELS, "sampling", 3, SampleCheck::run));
    all.add(new CheckStep(KERNELS, "memory", 2, MemoryCheck::run));
    all.add(new CheckStep(KERNELS, "device", 5, DeviceCheck::run));
    all.add(new CheckStep("copy", "copy and read", 5, CopySpeed::run));
    all.add(new CheckStep("products", "products of many tokens", 6, ProductSpeed::many));
    all.add(new CheckStep("products", "products of few tokens", 8, ProductSpeed::few));
    all.add(new CheckStep("attention", "attention", 15, AttentionSpeed::run));
    options.model().ifPresent(file -> all.add(tokens(options)));
    for (boolean graphs : new boolean[] {true, false}) {
      for (CudaConfig.Weights weights :
          List.of(CudaConfig.Weights.BF16, CudaConfig.Weights.FP8, CudaConfig.Weights.FILE)) {
        String name = "%s, graphs %s".formatted(ModelSpeed.name(weights), graphs ? "on" : "off");
        ModelSpeed speed = new ModelSpeed(weights, graphs);
        all.add(new CheckStep("model", name, 20, speed::run));
      }
    }
    return all;
  }

  private static CheckStep tokens(CheckOptions options) {
    return new CheckStep(
        "tokens", "tokens of a model", 15, bench -> TokenCheck.run(bench, options));
  }
}
