package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import firstlight.model.Tensor;
import firstlight.model.TensorType;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every form of packed weights against plain arithmetic on the decoded tensor. */
class MatrixTest {
  private static final long SEED = Long.getLong("seed", 1);

  /** More blocks than native kernels unpack at once. */
  private static final int COLUMNS = 1280;

  /** Not a multiple of any vector's lanes, so that the last group is not full. */
  private static final int ROWS = 83;

  private static final int TOKENS = 27;
  private final Random random = new Random(SEED);

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void a_packed_row_decodes_to_what_the_file_says(TensorType type) {
    Tensor tensor = RandomTensors.of(type, ROWS, COLUMNS, random);
    for (GpuConfig.Kernels kernels : GpuConfig.Kernels.values()) {
      Matrix matrix = new MatrixPacker(kernels, false).pack(tensor);
      float[] expected = new float[COLUMNS];
      float[] actual = new float[COLUMNS + 1];
      for (int row = 0; row < ROWS; row++) {
        tensor.dequantize(row, expected, 0);
        matrix.row(row, actual, 1);
        for (int i = 0; i < COLUMNS; i++) {
          assertThat(actual[i + 1])
              .as("-Dseed=%d %s row %d column %d", SEED, type, row, i)
              .isEqualTo(expected[i]);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void products_are_those_of_plain_arithmetic(TensorType type) {
    Tensor tensor = RandomTensors.of(type, ROWS, COLUMNS, random);
    for (GpuConfig.Kernels kernels : GpuConfig.Kernels.values()) {
      Matrix matrix = new MatrixPacker(kernels, false).pack(tensor);
      boolean quantised = !(matrix instanceof FloatMatrix);
      Activations in = activations(quantised ? EnumSet.allOf(Activations.Form.class) : Set.of());
      float[] out = new float[TOKENS * matrix.stride()];
      matrix.multiply(in, TOKENS, out, new Share(0, 1));
      float[] weights = new float[COLUMNS];
      for (int row = 0; row < ROWS; row++) {
        tensor.dequantize(row, weights, 0);
        for (int token = 0; token < TOKENS; token++) {
          Sum sum = plain(in, token, weights, quantised);
          assertThat((double) out[token * matrix.stride() + row])
              .as("-Dseed=%d %s %s row %d token %d", SEED, type, kernels, row, token)
              .isCloseTo(sum.value, within(sum.size * 1e-5));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void a_token_gets_the_same_bits_alone_and_among_others_and_from_any_share(TensorType type) {
    Tensor tensor = RandomTensors.of(type, ROWS, COLUMNS, random);
    for (GpuConfig.Kernels kernels : GpuConfig.Kernels.values()) {
      Matrix matrix = new MatrixPacker(kernels, false).pack(tensor);
      Activations in = activations(matrix.forms());
      float[] alone = new float[TOKENS * matrix.stride()];
      for (int token = 0; token < TOKENS; token++) {
        float[] one = new float[matrix.stride()];
        matrix.multiply(copy(in, token, 1, matrix.forms()), 1, one, new Share(0, 1));
        System.arraycopy(one, 0, alone, token * matrix.stride(), one.length);
      }
      for (int tokens : new int[] {2, 7, 8, 11, TOKENS}) {
        for (int parts : new int[] {1, 2, 3, 16}) {
          float[] out = new float[TOKENS * matrix.stride()];
          for (int part = 0; part < parts; part++) {
            matrix.multiply(in, tokens, out, new Share(part, parts));
          }
          for (int i = 0; i < tokens * matrix.stride(); i++) {
            assertThat(Float.floatToRawIntBits(out[i]))
                .as(
                    "-Dseed=%d %s %s tokens %d parts %d at %d",
                    SEED, type, kernels, tokens, parts, i)
                .isEqualTo(Float.floatToRawIntBits(alone[i]));
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(TensorType.class)
  void native_kernels_give_the_bits_of_the_java_kernels(TensorType type) {
    assumeTrue(NativeKernels.available(), "no compiler, or a processor without byte products");
    Tensor tensor = RandomTensors.of(type, ROWS, COLUMNS, random);
    Matrix java = new MatrixPacker(GpuConfig.Kernels.Q8, false).pack(tensor);
    Matrix natively = new MatrixPacker(GpuConfig.Kernels.Q8, true).pack(tensor);
    Activations in = activations(java.forms());
    Activations bytes = copy(in, 0, TOKENS, natively.forms());
    for (int tokens = 1; tokens <= TOKENS; tokens++) {
      float[] expected = new float[TOKENS * java.stride()];
      float[] out = new float[TOKENS * java.stride()];
      java.multiply(in, tokens, expected, new Share(0, 1));
      natively.multiply(bytes, tokens, out, new Share(0, 2));
      natively.multiply(bytes, tokens, out, new Share(1, 2));
      for (int i = 0; i < out.length; i++) {
        assertThat(Float.floatToRawIntBits(out[i]))
            .as("-Dseed=%d %s tokens %d at %d", SEED, type, tokens, i)
            .isEqualTo(Float.floatToRawIntBits(expected[i]));
      }
    }
  }

  private record Sum(double value, double size) {}

  /** With the bytes of the activations, where those are what is multiplied. */
  private static Sum plain(Activations in, int token, float[] weights, boolean quantised) {
    double value = 0;
    double size = 0;
    for (int i = 0; i < COLUMNS; i++) {
      int block = i / Activations.BLOCK;
      double x =
          quantised
              ? in.steps[in.step(token, block) + i % Activations.BLOCK]
                  * (double) in.scales[token * in.blocks + block]
              : in.values[in.row(token) + i];
      value += x * weights[i];
      // Integer sums and minima cancel each other, so their sizes count, not the weights' alone.
      size += Math.abs(x) * (Math.abs(weights[i]) + 1);
    }
    return new Sum(value, size);
  }

  private Activations activations(Set<Activations.Form> forms) {
    Activations in = new Activations(TOKENS, COLUMNS, forms);
    for (int i = 0; i < TOKENS * COLUMNS; i++) {
      in.values[i] = (float) random.nextGaussian();
    }
    for (int token = 0; token < TOKENS; token++) {
      in.quantise(token);
    }
    return in;
  }

  private static Activations copy(
      Activations in, int from, int tokens, Set<Activations.Form> forms) {
    Activations copy = new Activations(tokens, COLUMNS, forms);
    System.arraycopy(in.values, in.row(from), copy.values, 0, tokens * COLUMNS);
    for (int token = 0; token < tokens; token++) {
      copy.quantise(token);
    }
    return copy;
  }
}
