package firstlight.gpu;

import java.util.Random;

/** Numbers of 16 bits, and the order in which kernels keep a product's input. */
final class Bf16 {
  private Bf16() {}

  static float toFloat(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  /** To the nearest, and to the even one of two. */
  static short of(float x) {
    int bits = Float.floatToRawIntBits(x);
    return (short) (Float.isNaN(x) ? 0x7fff : bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
  }

  /** Where an element of a row stands, as {@code lane_order} of {@code device.cuh} says. */
  static int place(int element) {
    int chunk = element / 32 * 32;
    int half = element % 32 / 16;
    int lane = element % 16 / 4;
    return chunk + lane * 8 + half * 4 + element % 4;
  }

  /** Rows in the order of elements, from rows in the order of lanes. */
  static double[][] rows(short[] kept, int columns) {
    double[][] rows = new double[kept.length / columns][columns];
    for (int i = 0; i < kept.length; i++) {
      int row = i / columns;
      rows[row][i % columns] = toFloat(kept[row * columns + place(i % columns)]);
    }
    return rows;
  }

  static short[] random(int count, Random random) {
    short[] numbers = new short[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = of((float) random.nextGaussian());
    }
    return numbers;
  }

  static float[] gaussians(int count, Random random) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = (float) random.nextGaussian();
    }
    return numbers;
  }

  static double[] doubles(float[] from) {
    double[] to = new double[from.length];
    for (int i = 0; i < to.length; i++) {
      to[i] = from[i];
    }
    return to;
  }
}
