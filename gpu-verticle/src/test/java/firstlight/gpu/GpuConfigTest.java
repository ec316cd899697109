package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class GpuConfigTest {
  private static Settings settings(String yaml) {
    return Settings.parse(yaml, _ -> null);
  }

  @Test
  void every_setting_has_a_default() {
    assertThat(GpuConfig.defaults())
        .isEqualTo(
            new GpuConfig(
                GpuConfig.DeviceKind.AUTO,
                GpuConfig.Kernels.Q8,
                GpuConfig.Provider.AUTO,
                0,
                GpuConfig.KvType.F16,
                384L << 20,
                0,
                16,
                512,
                8192,
                Duration.ofSeconds(60),
                Duration.ofSeconds(10),
                Duration.ofSeconds(10),
                new CudaConfig(CudaConfig.Weights.FILE, 0, true, CudaConfig.Products.OWN, 1)));
  }

  @Test
  void every_setting_can_be_set() {
    Settings settings =
        settings(
            """
            device: cpu
            kernels: float32
            provider: java
            threads: 3
            kvType: f32
            kvMemory: 64MiB
            kvBlocks: 77
            blockTokens: 32
            stepTokensMax: 100
            contextMax: 1000
            stepTimeLimit: 5s
            ownerTimeout: 6s
            warmUp: 700ms
            cuda: {weights: bf16, kvMemory: 3MiB, graphs: false, products: cublaslt}
            """);
    assertThat(GpuConfig.read(settings))
        .isEqualTo(
            new GpuConfig(
                GpuConfig.DeviceKind.CPU,
                GpuConfig.Kernels.FLOAT32,
                GpuConfig.Provider.JAVA,
                3,
                GpuConfig.KvType.F32,
                64L << 20,
                77,
                32,
                100,
                1000,
                Duration.ofSeconds(5),
                Duration.ofSeconds(6),
                Duration.ofMillis(700),
                new CudaConfig(
                    CudaConfig.Weights.BF16, 3L << 20, false, CudaConfig.Products.CUBLASLT, 1)));
    assertThat(settings.problems().found()).isEmpty();
  }

  @Test
  void cublaslt_is_refused_where_no_weights_could_be_bf16() {
    Settings settings = settings("cuda: {weights: fp8, products: cublaslt}");
    GpuConfig.read(settings);
    assertThat(settings.problems().found())
        .containsExactly(
            "gpu.cuda.products is cublaslt, which multiplies bf16 only, but gpu.cuda.weights is"
                + " fp8: set weights: bf16, or products: own");
  }

  @Test
  void gpus_share_a_model_by_powers_of_two_and_with_our_own_products() {
    Settings three = settings("cuda: {tensorParallel: 3}");
    GpuConfig.read(three);
    assertThat(three.problems().found())
        .containsExactly("gpu.cuda.tensorParallel is 3 but must be 1, 2, 4 or 8");
    Settings library = settings("cuda: {weights: bf16, products: cublaslt, tensorParallel: 4}");
    GpuConfig.read(library);
    assertThat(library.problems().found())
        .singleElement()
        .asString()
        .contains("gpu.cuda.tensorParallel is 4", "set products: own, or tensorParallel: 1");
  }

  @Test
  void mistakes_are_all_told() {
    Settings settings = settings("{device: gpu, blockTokens: 20, kvMemory: 5B, thread: 1}");
    GpuConfig.read(settings);
    assertThat(settings.problems().found())
        .anySatisfy(problem -> assertThat(problem).contains("device must be one of", "cuda"))
        .anySatisfy(problem -> assertThat(problem).contains("multiple of 16"))
        .anySatisfy(problem -> assertThat(problem).contains("at least 1MiB"))
        .anySatisfy(problem -> assertThat(problem).contains("thread", "threads"))
        .hasSize(4);
  }
}
