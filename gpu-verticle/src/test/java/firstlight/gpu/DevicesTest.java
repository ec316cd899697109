package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.gpu.cuda.CudaProbe;
import firstlight.protocol.Settings;
import java.util.List;
import org.junit.jupiter.api.Test;

class DevicesTest {
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
}
