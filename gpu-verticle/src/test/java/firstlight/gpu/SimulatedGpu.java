package firstlight.gpu;

import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.SimulatedDriver;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Assumptions;

/** A GPU of the simulated driver, with its kernels and short ways to fill and read its memory. */
final class SimulatedGpu implements AutoCloseable {
  /** The simulated driver has its kernels already; it only looks whether this is an image. */
  static final byte[] IMAGE = "\177ELF".getBytes(StandardCharsets.ISO_8859_1);

  final Gpu gpu;
  final Kernels kernels;
  final CheckMemory memory;

  private SimulatedGpu() {
    gpu = Gpu.open(0, IMAGE);
    kernels = new Kernels(gpu);
    memory = new CheckMemory(gpu);
  }

  /** Skips the test that asks where the driver can not be built. */
  static void require() {
    SimulatedDriver.unavailable()
        .ifPresent(reason -> Assumptions.abort("no simulated driver: " + reason));
    SimulatedDriver.load();
    SimulatedDriver.reset();
  }

  static SimulatedGpu open() {
    require();
    return new SimulatedGpu();
  }

  @Override
  public void close() {
    gpu.close();
  }
}
