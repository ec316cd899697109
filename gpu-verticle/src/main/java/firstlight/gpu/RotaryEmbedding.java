package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import jdk.incubator.vector.FloatVector;

/**
 * Turns pairs of a head's elements by an angle that grows with the position. Pairs are (i, i +
 * half): files whose pairs are neighbours get their rows permuted when they are packed.
 */
final class RotaryEmbedding {
  private final int half;
  private final float[] cosines;
  private final float[] sines;

  /**
   * @param frequencies radians a position, one for each pair
   */
  RotaryEmbedding(float[] frequencies, int positions) {
    half = frequencies.length;
    cosines = new float[Math.multiplyExact(positions, half)];
    sines = new float[cosines.length];
    for (int position = 0; position < positions; position++) {
      for (int i = 0; i < half; i++) {
        // Math.cos may differ in the last bit between interpreted and compiled code.
        double angle = (double) position * frequencies[i];
        cosines[position * half + i] = (float) StrictMath.cos(angle);
        sines[position * half + i] = (float) StrictMath.sin(angle);
      }
    }
  }

  /**
   * What is made for each layer; layers that turn alike share one.
   *
   * @param frequencies of each layer
   */
  static <T> List<T> ofLayers(List<float[]> frequencies, Function<float[], T> make) {
    List<float[]> seen = new ArrayList<>();
    List<T> made = new ArrayList<>();
    List<T> ofLayers = new ArrayList<>();
    for (float[] ofLayer : frequencies) {
      int known = 0;
      while (known < seen.size() && !Arrays.equals(seen.get(known), ofLayer)) {
        known++;
      }
      if (known == seen.size()) {
        seen.add(ofLayer);
        made.add(make.apply(ofLayer));
      }
      ofLayers.add(made.get(known));
    }
    return List.copyOf(ofLayers);
  }

  void rotate(float[] head, int at, int position) {
    int table = position * half;
    int i = 0;
    for (; i + COUNT <= half; i += COUNT) {
      FloatVector x = FloatVector.fromArray(FLOATS, head, at + i);
      FloatVector y = FloatVector.fromArray(FLOATS, head, at + half + i);
      FloatVector cosine = FloatVector.fromArray(FLOATS, cosines, table + i);
      FloatVector sine = FloatVector.fromArray(FLOATS, sines, table + i);
      x.mul(cosine).sub(y.mul(sine)).intoArray(head, at + i);
      x.mul(sine).add(y.mul(cosine)).intoArray(head, at + half + i);
    }
    for (; i < half; i++) {
      float x = head[at + i];
      float y = head[at + half + i];
      head[at + i] = x * cosines[table + i] - y * sines[table + i];
      head[at + half + i] = x * sines[table + i] + y * cosines[table + i];
    }
  }

  /** Where a row stands in a file whose pairs are neighbours: for packing query and key rows. */
  static int neighbour(int row, int headSize, int rotated) {
    int inHead = row % headSize;
    if (inHead >= rotated) {
      return row;
    }
    int half = rotated / 2;
    int source = inHead < half ? 2 * inHead : 2 * (inHead - half) + 1;
    return row - inHead + source;
  }
}
