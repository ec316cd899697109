package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import java.util.Set;
import jdk.incubator.vector.FloatVector;

/**
 * Weights as floats, times activations as floats: for tensors that are not quantised, and for the
 * exact mode.
 *
 * <p>Layout: {@code weights[group][column][lane]}. A row's products are added in the order of the
 * columns, each with one rounding.
 */
final class FloatMatrix implements Matrix {
  /** Groups whose sums a kernel holds at once. */
  private static final int ABREAST = 4;

  /** Tokens whose sums a kernel holds at once. */
  private static final int TOKENS = 4;

  private final int rows;
  private final int columns;
  private final float[] weights;

  FloatMatrix(int rows, int columns) {
    this.rows = rows;
    this.columns = columns;
    this.weights = new float[Math.multiplyExact(stride(), columns)];
  }

  /** Puts a row in its place; rows may be packed by several threads. */
  void pack(int row, float[] from) {
    int at = row / COUNT * columns * COUNT + row % COUNT;
    for (int column = 0; column < columns; column++) {
      weights[at + column * COUNT] = from[column];
    }
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return columns;
  }

  @Override
  public int stride() {
    return (Lanes.groups(rows) + ABREAST - 1) / ABREAST * ABREAST * COUNT;
  }

  @Override
  public Set<Activations.Form> forms() {
    return Set.of();
  }

  @Override
  public void row(int row, float[] into, int to) {
    int at = row / COUNT * columns * COUNT + row % COUNT;
    for (int column = 0; column < columns; column++) {
      into[to + column] = weights[at + column * COUNT];
    }
  }

  @Override
  public void multiply(Activations in, int tokens, float[] out, Share share) {
    int quads = stride() / COUNT / ABREAST;
    for (int quad = share.from(quads); quad < share.to(quads); quad++) {
      int group = quad * ABREAST;
      int token = 0;
      for (; token + TOKENS <= tokens; token += TOKENS) {
        fourTokens(in, token, out, group);
        fourTokens(in, token, out, group + 2);
      }
      for (; token < tokens; token++) {
        oneToken(in, token, out, group);
      }
    }
  }

  /** Four groups. */
  private void oneToken(Activations in, int token, float[] out, int group) {
    final float[] x = in.values;
    final int perGroup = columns * COUNT;
    int at = group * perGroup;
    int row = in.row(token);
    FloatVector s0 = FloatVector.zero(FLOATS);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    for (int column = 0; column < columns; column++) {
      FloatVector v = FloatVector.broadcast(FLOATS, x[row + column]);
      s0 = FloatVector.fromArray(FLOATS, weights, at).fma(v, s0);
      s1 = FloatVector.fromArray(FLOATS, weights, at + perGroup).fma(v, s1);
      s2 = FloatVector.fromArray(FLOATS, weights, at + 2 * perGroup).fma(v, s2);
      s3 = FloatVector.fromArray(FLOATS, weights, at + 3 * perGroup).fma(v, s3);
      at += COUNT;
    }
    int to = token * stride() + group * COUNT;
    s0.intoArray(out, to);
    s1.intoArray(out, to + COUNT);
    s2.intoArray(out, to + 2 * COUNT);
    s3.intoArray(out, to + 3 * COUNT);
  }

  /** Two groups. */
  private void fourTokens(Activations in, int token, float[] out, int group) {
    final float[] x = in.values;
    final int perGroup = columns * COUNT;
    int at = group * perGroup;
    int row = in.row(token);
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    FloatVector s10 = s00;
    FloatVector s11 = s00;
    FloatVector s20 = s00;
    FloatVector s21 = s00;
    FloatVector s30 = s00;
    FloatVector s31 = s00;
    for (int column = 0; column < columns; column++) {
      FloatVector w0 = FloatVector.fromArray(FLOATS, weights, at);
      FloatVector w1 = FloatVector.fromArray(FLOATS, weights, at + perGroup);
      FloatVector v = FloatVector.broadcast(FLOATS, x[row + column]);
      s00 = w0.fma(v, s00);
      s01 = w1.fma(v, s01);
      v = FloatVector.broadcast(FLOATS, x[row + column + in.columns]);
      s10 = w0.fma(v, s10);
      s11 = w1.fma(v, s11);
      v = FloatVector.broadcast(FLOATS, x[row + column + 2 * in.columns]);
      s20 = w0.fma(v, s20);
      s21 = w1.fma(v, s21);
      v = FloatVector.broadcast(FLOATS, x[row + column + 3 * in.columns]);
      s30 = w0.fma(v, s30);
      s31 = w1.fma(v, s31);
      at += COUNT;
    }
    int to = token * stride() + group * COUNT;
    s00.intoArray(out, to);
    s01.intoArray(out, to + COUNT);
    s10.intoArray(out, to + stride());
    s11.intoArray(out, to + stride() + COUNT);
    s20.intoArray(out, to + 2 * stride());
    s21.intoArray(out, to + 2 * stride() + COUNT);
    s30.intoArray(out, to + 3 * stride());
    s31.intoArray(out, to + 3 * stride() + COUNT);
  }
}
