package firstlight.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class KernelUseTest {
  private static final String LOG =
      """
      kernels.cu(3): warning #177-D: variable "x" was declared but never referenced

      ptxas info    : 0 bytes gmem
      ptxas info    : Compiling entry function 'second' for 'sm_90a'
      ptxas info    : Function properties for second
          72 bytes stack frame, 100 bytes spill stores, 92 bytes spill loads
      ptxas info    : Function properties for _Z6calledv
          8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
      ptxas info    : Used 32 registers, used 1 barriers, 72 bytes cumulative stack size, 512 bytes smem
      ptxas info    : Compile time = 4.000 ms
      ptxas info    : Compiling entry function 'first' for 'sm_90a'
      ptxas info    : Function properties for first
          0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
      ptxas info    : Used 10 registers, used 0 barriers
      """;

  @Test
  void each_kernel_of_a_log_has_what_it_and_its_functions_use() {
    assertThat(KernelUse.of(LOG))
        .containsExactly(
            new KernelUse("first", 10, 0, 0, 0, 0), new KernelUse("second", 32, 80, 104, 96, 512));
  }

  @Test
  void another_log_has_no_kernels() {
    assertThat(KernelUse.of("")).isEmpty();
    assertThat(KernelUse.of("add.cu(5): error: identifier \"y\" is undefined\n")).isEmpty();
  }
}
