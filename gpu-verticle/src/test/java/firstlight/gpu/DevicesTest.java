package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import firstlight.gpu.cuda.CudaProbe;
import firstlight.model.ModelFile;
import firstlight.model.TinyModels;
import firstlight.protocol.Settings;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DevicesTest {
  @TempDir private Path folder;

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
    List<CudaProbe.Gpu> five = IntStream.range(0, 5).mapToObj(DevicesTest::gpu).toList();
    Devices pairs = Devices.found(sharing(2), five);
    assertThat(pairs.groups()).containsExactly(five.subList(0, 2), five.subList(2, 4));
    assertThat(pairs.count()).isEqualTo(2);
    try (ModelFile file = ModelFile.open(TinyModels.llama(folder, 1))) {
      assertThat(pairs.deal("m", file).name()).isEqualTo("gpu0+1");
      assertThat(pairs.deal("m", file).name()).isEqualTo("gpu2+3");
    }
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

  private static CudaProbe.Gpu gpu(int ordinal) {
    return new CudaProbe.Gpu(ordinal, "New", 9, 0, 1L << 34);
  }

  @Test
  void gpus_are_counted_and_dealt_out_in_turn_each_under_a_name_of_its_own() {
    Devices devices = Devices.found(config("auto"), List.of(OLD, gpu(1), gpu(2)));
    assertThat(devices.count()).isEqualTo(2);
    try (ModelFile file = ModelFile.open(TinyModels.llama(folder, 1))) {
      List<String> names =
          Stream.of("a", "b", "b", "b", "a")
              .map(model -> devices.deal(model, file).name())
              .toList();
      assertThat(names).containsExactly("gpu1", "gpu2", "gpu1", "gpu2-2", "gpu1-2");
    }
  }

  @Test
  void the_processor_is_one_device_however_often_it_is_dealt_out() {
    Devices devices = Devices.none(config("cpu"));
    assertThat(devices.count()).isEqualTo(1);
    try (ModelFile file = ModelFile.open(TinyModels.llama(folder, 1))) {
      assertThat(devices.deal("m", file).name()).isEqualTo("cpu");
      assertThat(devices.deal("m", file).name()).isEqualTo("cpu-2");
    }
  }
}
