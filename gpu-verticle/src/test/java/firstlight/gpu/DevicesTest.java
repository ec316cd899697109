package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.gpu.cuda.CudaProbe;
import firstlight.model.ModelFile;
import firstlight.model.TinyModels;
import firstlight.protocol.Settings;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DevicesTest {
  @TempDir private Path folder;

  private static final CudaProbe.Gpu OLD = new CudaProbe.Gpu(0, "Old", 7, 5, 1L << 34);
  private static final CudaProbe.Gpu NEW = new CudaProbe.Gpu(1, "New", 9, 0, 1L << 34);

  private static GpuConfig config(String device) {
    return GpuConfig.read(Settings.parse("device: " + device, _ -> null));
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
