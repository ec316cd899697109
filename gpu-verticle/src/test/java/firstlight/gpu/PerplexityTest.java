package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import firstlight.model.Model;
import firstlight.model.TestModels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * The default kernels against the float32 ones, over whole distributions. The limits on the whole
 * text are what llama.cpp's default scores on it, against its own float32, to two digits.
 */
class PerplexityTest {
  /** Windows of the text, unless {@code -Dfirstlight.slow=true}: then all of it. */
  private static final int WINDOWS = 2;

  private static boolean isWhole() {
    return Boolean.getBoolean("firstlight.slow");
  }

  @Test
  void smollm2_is_as_near_to_float32_as_llama_cpp_is() throws IOException {
    Perplexity.Figures figures = measure("smollm2", TestModels.smollm2Model());
    assertThat(figures.meanDivergence()).isLessThan(0.00255);
    assertThat(figures.perplexity()).isCloseTo(figures.truePerplexity(), within(0.11));
    if (isWhole()) {
      assertThat(figures.truePerplexity()).isCloseTo(17.70, within(0.05));
    }
  }

  @Test
  void gemma3_is_as_near_to_float32_as_llama_cpp_is() throws IOException {
    Perplexity.Figures figures = measure("gemma3", TestModels.gemma3Model());
    assertThat(figures.meanDivergence()).isLessThan(0.00465);
    if (isWhole()) {
      assertThat(figures.truePerplexity()).isCloseTo(18.02, within(0.05));
    }
  }

  private static Perplexity.Figures measure(String name, Model model) throws IOException {
    Path text =
        Path.of(System.getProperty("firstlight.shared", "../../shared"), "reference/ppl_text.txt");
    Assumptions.assumeTrue(Files.exists(text), () -> "skipped: there is no " + text);
    int[][] windows = Perplexity.windows(model, Files.readString(text));
    if (!isWhole()) {
      windows = Arrays.copyOf(windows, WINDOWS);
    }
    Perplexity.Figures figures = new Perplexity.Figures();
    try (Perplexity truth = new Perplexity(model.file(), GpuConfig.Kernels.FLOAT32);
        Perplexity ours = new Perplexity(model.file(), GpuConfig.Kernels.Q8)) {
      for (int[] window : windows) {
        figures.add(window, ours.logprobs(window), truth.logprobs(window));
      }
    }
    System.out.println("perplexity: " + name + " " + figures);
    return figures;
  }
}
