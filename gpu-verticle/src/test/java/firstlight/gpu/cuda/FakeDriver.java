package firstlight.gpu.cuda;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** A library with the few functions of a CUDA driver that are asked, which say what is wanted. */
final class FakeDriver {
  private static final String SOURCE =
      """
      #include <string.h>
      extern "C" {
      int cuInit(unsigned) { return INIT; }
      int cuDriverGetVersion(int *version) { *version = VERSION; return 0; }
      int cuDeviceGetCount(int *count) { *count = GPUS; return 0; }
      int cuDeviceGet(int *device, int ordinal) { *device = 70 + ordinal; return FAILURE; }
      int cuDeviceGetName(char *name, int length, int device) {
        if (device < 70) return 101;
        strncpy(name, "NVIDIA H200", length);
        return 0;
      }
      int cuDeviceTotalMem_v2(unsigned long *bytes, int device) {
        *bytes = 150000000000ul + device;
        return 0;
      }
      int cuDeviceGetAttribute(int *value, int attribute, int) {
        *value = attribute == 75 ? 9 : attribute == 76 ? 0 : -1;
        return 0;
      }
      int cuGetErrorName(int error, const char **name) {
        *name = error == 100 ? "CUDA_ERROR_NO_DEVICE"
            : error == 101 ? "CUDA_ERROR_INVALID_DEVICE"
            : error == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : 0;
        return *name ? 0 : 1;
      }
      }
      """;

  private FakeDriver() {}

  /**
   * Builds one. The test that asks is skipped where there is no compiler.
   *
   * @param definitions what it says, instead of a sound driver with two GPUs: NAME=value
   */
  static String build(Path folder, String... definitions) throws IOException, InterruptedException {
    Path library = folder.resolve("libfake.so");
    String code = SOURCE;
    for (String definition : definitions) {
      String[] parts = definition.split("=", 2);
      code = code.replace(parts[0], parts[1]);
    }
    code = code.replace("INIT", "0").replace("VERSION", "13000");
    code = code.replace("GPUS", "2").replace("FAILURE", "0");
    Path file = Files.writeString(folder.resolve("fake.cpp"), code);
    Process process;
    try {
      process =
          new ProcessBuilder(
                  List.of("g++", "-shared", "-fPIC", "-o", library.toString(), file.toString()))
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("said").toFile())
              .start();
    } catch (IOException e) {
      return Assumptions.abort("no g++ for a fake driver: " + e.getMessage());
    }
    assertEquals(0, process.waitFor(), () -> read(folder.resolve("said")));
    return library.toString();
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }
}
