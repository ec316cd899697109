package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.gpu.KernelFaultMain.Part;
import firstlight.gpu.cuda.SimulatedDriver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether the tests of the kernels find faults that are planted in them. */
class KernelFaultsTest {
  private static final Path KERNELS = Path.of("src/main/resources/firstlight/gpu/cuda");
  private static final long MINUTES_MAX = 5;

  @TempDir Path folder;

  /**
   * A change of a source.
   *
   * @param before occurs once in the file
   */
  private record Fault(String what, Part part, String file, String before, String after) {}

  /** No fault for each part first: the tests pass then. */
  private static List<Fault> faults() {
    List<Fault> faults = new ArrayList<>();
    for (Part part : Part.values()) {
      faults.add(new Fault("none, for " + part, part, "norm.cuh", "", ""));
    }
    faults.addAll(inRowsAndProducts());
    faults.addAll(inAttentionAndSampling());
    return faults;
  }

  private static List<Fault> inRowsAndProducts() {
    return List.of(
        new Fault(
            "a sum that does not wait for all warps",
            Part.ROWS,
            "device.cuh",
            "  __syncthreads();\n  float sum = sums[0];",
            "  float sum = sums[0];"),
        new Fault(
            "a wrong stride",
            Part.ROWS,
            "norm.cuh",
            "a.added + (u64)row * a.stride",
            "a.added + (u64)row * (a.stride + 1)"),
        new Fault(
            "ranges added up before all are there",
            Part.PRODUCTS,
            "product.cuh",
            "  __syncthreads();\n",
            ""),
        new Fault(
            "rows read beyond the last",
            Part.PRODUCTS,
            "product.cuh",
            "min(row + 8, p.rows - 1)",
            "(row + 8)"),
        new Fault(
            "halves of nibbles changed over",
            Part.PRODUCTS,
            "quants.cuh",
            "    unsigned x = read32_even(at + 2 + t * 4);\n    pack4(x & 0x0f0f0f0fu",
            "    unsigned x = read32_even(at + 2 + t * 4);\n    pack4(x >> 4 & 0x0f0f0f0fu"),
        new Fault(
            "ranges that depend on the kernel",
            Part.PRODUCTS,
            "product.cuh",
            """
                int end = range_start(p, range + 1);
            #pragma unroll 1
                for (int chunk = range_start(p, range); chunk < end; chunk++) {
            """,
            """
                int end = range_start(p, range + 1) + (range + 1 < p.ranges);
            #pragma unroll 1
                for (int chunk = range_start(p, range) + (range > 0); chunk < end; chunk++) {
            """));
  }

  private static List<Fault> inAttentionAndSampling() {
    return List.of(
        new Fault(
            "the page after the right one",
            Part.ATTENTION,
            "attention.cuh",
            "table[position / m.block_tokens]",
            "table[(position + 1) / m.block_tokens]"),
        new Fault(
            "largest scores read before they are there",
            Part.ATTENTION,
            "attention.cuh",
            "  __syncthreads();\n  for (int half = 0; half < 2; half++) {\n    int row = g + half"
                + " * 8;\n    float most",
            "  for (int half = 0; half < 2; half++) {\n"
                + "    int row = g + half * 8;\n"
                + "    float most"),
        new Fault(
            "a window that is one too wide",
            Part.ATTENTION,
            "attention.cuh",
            "position > own - a.window",
            "position >= own - a.window"),
        new Fault(
            "a barrier that only some come to",
            Part.ATTENTION,
            "attention.cuh",
            "    if (t == 0) {\n      shared.sums",
            "    if (t == 0) {\n      __syncthreads();\n      shared.sums"),
        new Fault(
            "a total that is read while it is made",
            Part.SAMPLE,
            "sample.cuh",
            "  atomicAdd(&total, x);\n  __syncthreads();",
            "  atomicAdd(&total, x);"),
        new Fault(
            "a draw at the position before",
            Part.SAMPLE,
            "sample.cuh",
            "GAMMA * (position + 1ull)",
            "GAMMA * (u64)position"));
  }

  /** Two at a time: most of it is compiling. */
  @Test
  void planted_faults_are_found() throws Exception {
    SimulatedGpu.require();
    List<String> survivors = new ArrayList<>();
    try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
      List<Callable<String>> trials = new ArrayList<>();
      for (Fault fault : faults()) {
        Path own = Files.createDirectory(folder.resolve("fault" + trials.size()));
        trials.add(() -> trial(fault, own));
      }
      for (Future<String> trial : pool.invokeAll(trials)) {
        survivors.add(trial.get());
      }
    }
    survivors.removeIf(String::isEmpty);
    assertThat(survivors).isEmpty();
  }

  /** What is wrong with the test of the tests; empty: nothing. */
  private static String trial(Fault fault, Path folder) throws Exception {
    plant(fault, folder);
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--add-modules",
                "jdk.incubator.vector",
                "-D" + SimulatedDriver.KERNELS_PROPERTY + "=" + folder,
                "-classpath",
                System.getProperty("java.class.path"),
                KernelFaultMain.class.getName(),
                fault.part.name())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("said").toFile())
            .start();
    if (!process.waitFor(MINUTES_MAX, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      return fault.what + " does not end";
    }
    boolean isPlanted = !fault.before.isEmpty();
    return process.exitValue() == (isPlanted ? KernelFaultMain.FOUND : 0)
        ? ""
        : fault.what + ": " + Files.readString(folder.resolve("said"));
  }

  private static void plant(Fault fault, Path folder) throws IOException {
    try (Stream<Path> sources = Files.list(KERNELS)) {
      for (Path source : sources.toList()) {
        Files.copy(source, folder.resolve(source.getFileName()));
      }
    }
    Files.writeString(folder.resolve("kernels.cu"), fault.part.source);
    if (!fault.before.isEmpty()) {
      Path file = folder.resolve(fault.file);
      String source = Files.readString(file);
      assertThat(source.split(Pattern.quote(fault.before), -1))
          .as("%s has it once", fault.file)
          .hasSize(2);
      Files.writeString(file, source.replace(fault.before, fault.after));
    }
  }
}
