package firstlight.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NvrtcTest {
  private static final String ADD =
      """
      #include "add.cuh"
      extern "C" __global__ void add(float *a, const float *b) {
        a[threadIdx.x] = plus(a[threadIdx.x], b[threadIdx.x]);
      }
      """;

  /** Without __device__, which the options make the default. */
  private static final Map<String, String> HEADERS =
      Map.of(
          "add.cuh",
          "#include \"more.cuh\"\ninline float plus(float a, float b) { return a + b + MORE; }\n",
          "more.cuh",
          "#define MORE 1.0f\n");

  /** More sums at once than the 32 registers that 2048 threads a multiprocessor leave each. */
  private static final String SPILLING =
      """
      extern "C" __global__ void __launch_bounds__(1024, 2) crowded(float *a, int n) {
        float sums[96];
        #pragma unroll
        for (int i = 0; i < 96; i++) sums[i] = a[i * 7];
        for (int j = 0; j < n; j++) {
          #pragma unroll
          for (int i = 0; i < 96; i++) sums[i] = sums[i] * a[j + i] + sums[(i + 1) % 96];
        }
        #pragma unroll
        for (int i = 0; i < 96; i++) a[i * 3] = sums[i];
      }
      extern "C" __global__ void roomy(float *a) {
        __shared__ float shared[64];
        shared[threadIdx.x] = a[threadIdx.x];
        __syncthreads();
        a[threadIdx.x] = shared[63 - threadIdx.x];
      }
      """;

  @TempDir Path folder;

  @Test
  void a_kernel_with_headers_becomes_machine_code() {
    Nvrtc.Compiled compiled = TestNvrtc.get().compile("add.cu", ADD, HEADERS, "sm_90a");
    assertThat(new String(compiled.cubin(), StandardCharsets.ISO_8859_1))
        .startsWith("\u007fELF")
        .contains("add");
    assertThat(KernelUse.of(compiled.log())).extracting(KernelUse::kernel).containsExactly("add");
  }

  @Test
  void the_same_source_gives_the_same_bytes() {
    byte[] once = TestNvrtc.get().compile("add.cu", ADD, HEADERS, "sm_90a").cubin();
    assertThat(TestNvrtc.get().compile("add.cu", ADD, HEADERS, "sm_90a").cubin()).isEqualTo(once);
  }

  @Test
  void other_kinds_of_gpu_can_be_compiled_for() {
    byte[] older = TestNvrtc.get().compile("add.cu", ADD, HEADERS, "sm_80").cubin();
    assertThat(older)
        .isNotEqualTo(TestNvrtc.get().compile("add.cu", ADD, HEADERS, "sm_120").cubin());
  }

  @Test
  void a_mistake_gives_what_the_compiler_says_with_file_and_line() {
    Nvrtc nvrtc = TestNvrtc.get();
    assertThatThrownBy(
            () -> nvrtc.compile("add.cu", ADD + "int f() { return y; }\n", HEADERS, "sm_90a"))
        .isInstanceOf(KernelCompileException.class)
        .hasMessageContaining("add.cu does not compile for sm_90a (NVRTC_ERROR_COMPILATION)")
        .hasMessageContaining("add.cu(5): error: identifier \"y\" is undefined");
  }

  @Test
  void a_missing_header_is_named() {
    Nvrtc nvrtc = TestNvrtc.get();
    assertThatThrownBy(() -> nvrtc.compile("add.cu", ADD, Map.of(), "sm_90a"))
        .isInstanceOf(KernelCompileException.class)
        .hasMessageContaining("add.cuh");
  }

  @Test
  void a_thousand_mistakes_are_a_message_that_ends() {
    Nvrtc nvrtc = TestNvrtc.get();
    StringBuilder bad = new StringBuilder();
    for (int i = 0; i < 1000; i++) {
      bad.append("#warning \"").append("w".repeat(100)).append("\"\n");
    }
    bad.append("int f() { return y; }\n");
    assertThatThrownBy(() -> nvrtc.compile("bad.cu", bad.toString(), Map.of(), "sm_90a"))
        .isInstanceOf(KernelCompileException.class)
        .satisfies(e -> assertThat(e.getMessage()).hasSizeBetween(4000, 9000));
  }

  @Test
  void an_architecture_that_the_compiler_does_not_know_is_not_blamed_on_the_source() {
    Nvrtc nvrtc = TestNvrtc.get();
    assertThatThrownBy(() -> nvrtc.compile("add.cu", ADD, HEADERS, "sm_999"))
        .isInstanceOf(KernelsUnavailable.class)
        .hasMessageContaining("sm_999");
    assertThatThrownBy(() -> nvrtc.compile("add.cu", ADD, HEADERS, "sm_90 -I/etc"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void the_log_says_which_kernel_spills() {
    Nvrtc.Compiled compiled = TestNvrtc.get().compile("two.cu", SPILLING, Map.of(), "sm_90a");
    List<KernelUse> uses = KernelUse.of(compiled.log());
    assertThat(uses).extracting(KernelUse::kernel).containsExactly("crowded", "roomy");
    KernelUse crowded = uses.getFirst();
    assertThat(crowded.spills()).isTrue();
    assertThat(crowded.registers()).isBetween(16, 32);
    assertThat(crowded.spillStoreBytes()).isPositive();
    assertThat(crowded.spillLoadBytes()).isPositive();
    assertThat(crowded.stackBytes()).isPositive();
    KernelUse roomy = uses.getLast();
    assertThat(roomy.spills()).isFalse();
    assertThat(roomy.registers()).isPositive();
    assertThat(roomy.sharedBytes()).isEqualTo(256);
  }

  @Test
  void a_folder_with_another_library_is_passed_over() throws Exception {
    boolean elsewhere = Nvrtc.find(Optional.empty()).isPresent();
    assertThat(Nvrtc.find(Optional.of(folder)).isPresent()).isEqualTo(elsewhere);
    Files.move(Path.of(FakeDriver.build(folder)), folder.resolve(Nvrtc.LIBRARY));
    assertThat(Nvrtc.find(Optional.of(folder)).isPresent()).isEqualTo(elsewhere);
  }

  @Test
  void the_version_is_a_number() {
    assertThat(TestNvrtc.get().version()).matches("13\\.\\d+");
  }
}
