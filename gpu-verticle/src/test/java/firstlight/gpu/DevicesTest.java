package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import firstlight.gpu.cuda.CudaProbe;
import firstlight.protocol.Settings;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
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
    assertThat(Devices.found(config("auto"), List.of(OLD)).groups()).isEmpty();
    assertThat(Devices.found(config("auto"), List.of(OLD, NEW)).groups())
        .containsExactly(List.of(NEW));
  }

  private static GpuConfig sharing(int gpus) {
    return GpuConfig.read(
        Settings.parse("device: cuda\ncuda:\n  tensorParallel: " + gpus, _ -> null));
  }

  @Test
  void gpus_that_share_a_model_must_be_there_and_alike() {
    CudaProbe.Gpu other = new CudaProbe.Gpu(2, "Other", 8, 0, 1L << 34);
    assertThatThrownBy(() -> Devices.found(sharing(2), List.of(OLD, NEW)))
        .isInstanceOf(NoSuchDevice.class)
        .hasMessage(
            "gpu.cuda.tensorParallel is 2, but there are only 1 GPUs that can be used: lower it");
    assertThatThrownBy(() -> Devices.found(sharing(2), List.of(NEW, other)))
        .isInstanceOf(NoSuchDevice.class)
        .hasMessageContaining("differ in compute capability");
  }

  @Test
  void groups_are_neighbours_and_what_is_left_over_is_not_used() {
    SimulatedGpu.require();
    List<CudaProbe.Gpu> five =
        IntStream.range(0, 5).mapToObj(i -> new CudaProbe.Gpu(i, "New", 9, 0, 1L << 34)).toList();
    assertThat(Devices.found(sharing(2), five).groups())
        .containsExactly(five.subList(0, 2), five.subList(2, 4));
    assertThat(Devices.found(sharing(1), five).groups()).hasSize(5);
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
