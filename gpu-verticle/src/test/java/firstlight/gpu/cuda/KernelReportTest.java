package firstlight.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the compiled kernels in the jar are like. */
class KernelReportTest {
  private static final String DISASSEMBLER = "nvidia-cuda-nvdisasm==13.5.37";
  private static final long SECONDS_MAX = 120;

  @TempDir Path folder;

  private static byte[] resource(String name) throws IOException {
    try (InputStream in = KernelImages.class.getResourceAsStream(name)) {
      Assumptions.assumeTrue(in != null, "the build had no compiler for the kernels");
      return in.readAllBytes();
    }
  }

  @Test
  void no_kernel_keeps_registers_in_memory() throws IOException {
    List<String> kernels =
        new String(resource("kernels-sm_90a.txt"), StandardCharsets.UTF_8).lines().skip(1).toList();
    assertThat(kernels).hasSizeGreaterThan(50);
    assertThat(kernels).allSatisfy(kernel -> assertThat(kernel).contains(" 0 + 0 bytes spilled"));
    assertThat(kernels).allSatisfy(kernel -> assertThat(kernel).contains(" 0 bytes of stack"));
  }

  /** By NVIDIA's own disassembler, where that can be fetched. */
  @Test
  void products_and_attention_use_the_tensor_cores() throws Exception {
    Path cubin = Files.write(folder.resolve("kernels.cubin"), resource("kernels-sm_90a.cubin"));
    Path disassembler = disassembler();
    Map<String, Long> products =
        Stream.of(run(List.of(disassembler.toString(), "-c", cubin.toString())).split("\\.section"))
            .filter(section -> section.strip().startsWith(".text."))
            .collect(
                Collectors.toMap(
                    section -> section.strip().split("[.,\"]+")[2],
                    section -> section.lines().filter(line -> line.contains("HMMA.")).count()));
    assertThat(products).hasSizeGreaterThan(50);
    products.forEach(
        (kernel, count) -> {
          if (kernel.startsWith("multiply") || kernel.startsWith("attend")) {
            assertThat(count).as(kernel).isPositive();
          }
        });
  }

  private Path disassembler() throws Exception {
    try {
      run(
          List.of(
              "python3",
              "-m",
              "pip",
              "download",
              "-q",
              "--no-deps",
              "-d",
              folder.toString(),
              DISASSEMBLER));
    } catch (IOException e) {
      Assumptions.abort("no disassembler: " + e.getMessage());
    }
    try (Stream<Path> files = Files.list(folder)) {
      Path wheel = files.filter(file -> file.toString().endsWith(".whl")).findAny().orElseThrow();
      run(List.of("python3", "-m", "zipfile", "-e", wheel.toString(), folder.toString()));
    }
    Path program = folder.resolve("nvidia/cu13/bin/nvdisasm");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    return program;
  }

  private String run(List<String> command) throws IOException, InterruptedException {
    Path said = Files.createTempFile(folder, "said", "");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    boolean ended = process.waitFor(SECONDS_MAX, TimeUnit.SECONDS);
    process.destroyForcibly();
    if (!ended || process.exitValue() != 0) {
      throw new IOException(command.getFirst() + ": " + Files.readString(said));
    }
    return Files.readString(said);
  }
}
