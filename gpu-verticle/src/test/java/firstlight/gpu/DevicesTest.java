package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import firstlight.gpu.cuda.CudaProbe;
import firstlight.protocol.Settings;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DevicesTest {
  private static final CudaProbe.Gpu OLD = new CudaProbe.Gpu(0, "Old", 7, 5, 1L << 34);
  private static final CudaProbe.Gpu NEW = new CudaProbe.Gpu(1, "New", 9, 0, 1L << 34);

  private static GpuConfig config(String device) {
    return GpuConfig.read(Settings.parse("{device: " + device + "}", _ -> null));
  }

  @Test
  void gpus_that_are_too_old_are_none() {
    assertThatThrownBy(() -> Devices.found(config("cuda"), List.of(OLD)))
        .isInstanceOf(NoSuchDevice.class)
        .hasMessage(
            "the cuda device can not be used: GPU 0, Old, has compute capability 7.5; 8.0 is"
                + " needed");
    assertThat(Devices.found(config("auto"), List.of(OLD)).gpus()).isEmpty();
    assertThat(Devices.found(config("auto"), List.of(OLD, NEW)).gpus()).containsExactly(NEW);
  }

  @Test
  void cublaslt_that_is_asked_for_and_missing_ends_the_start_whatever_the_device() {
    GpuConfig library = config("auto, cuda: {products: cublaslt}");
    assertThatThrownBy(
            () -> Devices.requireProducts(library, () -> Optional.of("it is not there: get it")))
        .isInstanceOf(NoSuchDevice.class)
        .hasMessage("gpu.cuda.products is cublaslt, but it is not there: get it");
    Devices.requireProducts(library, Optional::empty);
    Devices.requireProducts(
        config("cuda"), () -> fail("nobody looks for a library that is not used"));
  }
}
