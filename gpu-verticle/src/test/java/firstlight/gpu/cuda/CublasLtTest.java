package firstlight.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class CublasLtTest {
  /** Whatever machine this is, it has the C library. */
  private static final String THERE = "libc.so.6";

  @Test
  void the_library_that_is_missing_is_named_with_what_helps() {
    assertThat(CublasLt.unavailable(List.of(THERE, "libmissing.so.13")))
        .hasValueSatisfying(
            reason ->
                assertThat(reason)
                    .startsWith("libmissing.so.13 was not found: install cuBLAS for CUDA 13")
                    .contains("LD_LIBRARY_PATH", "gpu.cuda.products to own")
                    .doesNotContain("\n"));
  }

  @Test
  void nothing_is_said_where_all_are_there() {
    assertThat(CublasLt.unavailable(List.of(THERE, THERE))).isEmpty();
  }
}
