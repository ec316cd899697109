package firstlight.gpu;

import firstlight.model.Tensor;
import firstlight.model.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.Random;

/** Tensors of every type with anything in them. */
final class RandomTensors {
  private RandomTensors() {}

  /** Random bytes, but half floats of sensible size where the type has them. */
  static Tensor of(TensorType type, int rows, int columns, Random random) {
    int blocks = rows * columns / type.blockElements();
    byte[] data = new byte[blocks * type.blockBytes()];
    random.nextBytes(data);
    for (int block = 0; block < blocks; block++) {
      int at = block * type.blockBytes();
      switch (type) {
        case F32 -> putInt(data, at, Float.floatToIntBits((float) random.nextGaussian()));
        case F16 -> putHalf(data, at, random);
        case BF16 -> putShort(data, at, Float.floatToIntBits((float) random.nextGaussian()) >> 16);
        case Q4_0, Q5_0, Q8_0 -> putHalf(data, at, random);
        case Q6_K -> putHalf(data, at + 208, random);
        case Q4_1, Q5_1, Q4_K, Q5_K -> {
          putHalf(data, at, random);
          putHalf(data, at + 2, random);
        }
      }
    }
    return new Tensor("random", type, new long[] {columns, rows}, MemorySegment.ofArray(data));
  }

  private static void putHalf(byte[] data, int at, Random random) {
    putShort(data, at, Float.floatToFloat16((float) random.nextGaussian() / 64));
  }

  private static void putShort(byte[] data, int at, int value) {
    data[at] = (byte) value;
    data[at + 1] = (byte) (value >> 8);
  }

  private static void putInt(byte[] data, int at, int value) {
    putShort(data, at, value);
    putShort(data, at + 2, value >> 16);
  }
}
