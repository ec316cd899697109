package firstlight.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CudaProbeTest {
  private static final String NOWHERE = "libfirstlight-has-no-such.so.1";

  @TempDir Path folder;

  @Test
  void a_machine_without_a_driver_says_so() {
    Assumptions.assumeTrue(
        ForeignLibrary.open(CudaProbe.DRIVER).isEmpty(), "this machine has an NVIDIA driver");
    assertThat(CudaProbe.probe())
        .isEqualTo(
            new CudaProbe.Absent("there is no NVIDIA driver here: libcuda.so.1 was not found"));
    assertThat(CudaProbe.probe()).isSameAs(CudaProbe.probe());
  }

  @Test
  void this_machine_gets_an_answer_of_one_line() {
    switch (CudaProbe.ask(CudaProbe.DRIVER, CudaProbe.RUNTIME)) {
      case CudaProbe.Found found -> assertThat(found.driverVersion()).isGreaterThanOrEqualTo(13000);
      case CudaProbe.Absent absent -> assertThat(absent.reason()).isNotBlank().doesNotContain("\n");
    }
  }

  @Test
  void a_sound_driver_gives_its_gpus() throws Exception {
    String driver = FakeDriver.build(folder);
    assertThat(CudaProbe.ask(driver, driver))
        .isEqualTo(
            new CudaProbe.Found(
                List.of(
                    new CudaProbe.Gpu(0, "NVIDIA H200", 9, 0, 150_000_000_070L),
                    new CudaProbe.Gpu(1, "NVIDIA H200", 9, 0, 150_000_000_071L)),
                13000));
  }

  @Test
  void a_driver_without_a_gpu_is_named_with_its_error() throws Exception {
    String driver = FakeDriver.build(folder, "INIT=100");
    assertThat(reason(driver, driver))
        .startsWith("the NVIDIA driver finds no GPU (CUDA_ERROR_NO_DEVICE 100)");
  }

  @Test
  void a_driver_that_counts_no_gpu_finds_none() throws Exception {
    String driver = FakeDriver.build(folder, "GPUS=0");
    assertThat(reason(driver, driver)).startsWith("the NVIDIA driver finds no GPU");
  }

  @Test
  void a_library_that_differs_from_the_kernel_module_asks_for_a_restart() throws Exception {
    String driver = FakeDriver.build(folder, "INIT=803");
    assertThat(reason(driver, driver))
        .contains("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH 803")
        .contains("restart the machine");
  }

  @Test
  void an_error_without_a_name_has_its_number() throws Exception {
    String driver = FakeDriver.build(folder, "INIT=4711");
    assertThat(reason(driver, driver)).contains("CUDA error 4711");
  }

  @Test
  void an_old_driver_is_told_what_to_become() throws Exception {
    String driver = FakeDriver.build(folder, "VERSION=12040");
    assertThat(reason(driver, driver))
        .isEqualTo(
            "the driver is for CUDA 12.4; CUDA 13.0 is needed: update the driver to 580 or newer");
  }

  @Test
  void a_missing_runtime_is_told_apart_from_a_missing_driver() throws Exception {
    String driver = FakeDriver.build(folder);
    assertThat(reason(driver, NOWHERE))
        .isEqualTo(
            NOWHERE + " was not found: install the CUDA 13 runtime, or put it on LD_LIBRARY_PATH");
  }

  @Test
  void a_gpu_that_fails_is_a_reason_and_no_exception() throws Exception {
    String driver = FakeDriver.build(folder, "FAILURE=101");
    assertThat(reason(driver, driver)).contains("cuDeviceGet says CUDA_ERROR_INVALID_DEVICE 101");
  }

  @Test
  void a_library_that_is_no_driver_is_a_reason_and_no_exception() throws Exception {
    String driver = FakeDriver.build(folder, "cuDriverGetVersion=somethingElse");
    assertThat(reason(driver, driver)).contains("there is no function cuDriverGetVersion");
  }

  private static String reason(String driver, String runtime) {
    assertThat(CudaProbe.ask(driver, runtime)).isInstanceOf(CudaProbe.Absent.class);
    return ((CudaProbe.Absent) CudaProbe.ask(driver, runtime)).reason();
  }
}
