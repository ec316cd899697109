package firstlight.gpu;

import static firstlight.gpu.Activations.BLOCK;
import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import java.util.Arrays;
import jdk.incubator.vector.FloatVector;

/**
 * The product for many tokens at once: one block of columns of two groups of rows is unpacked to
 * floats, then multiplied by that block of all tokens. One thread's own.
 *
 * <p>Quants and activations are small integers, so their products and sums are exact in floats too,
 * and the result is bit for bit what the integer kernels give for one token. With 256-bit vectors
 * this is the fastest way, because it is the only one with one instruction for multiply and add.
 *
 * <p>Calls between vector operations are written out: the compiler stops inlining own methods in
 * long ones, and then every vector becomes an object.
 */
final class PanelProduct {
  /** Tokens whose sums are held in registers at once. */
  static final int TOKENS = 4;

  /** Tokens whose sums and columns stay in the nearest cache together. */
  private static final int TILE = 128;

  /** {@code [column][2 groups][lane]}. */
  final float[] weights = new float[2 * BLOCK * COUNT];

  /** {@code [2 groups][lane]}, of the first 16 columns, or of all. */
  final float[] scales = new float[2 * COUNT];

  /** The same for the last 16 columns. */
  final float[] highScales = new float[2 * COUNT];

  final float[] minima = new float[2 * COUNT];

  /** {@code [token][2 groups][lane]}. */
  private final float[] sums = new float[TILE * 2 * COUNT];

  /** A packed matrix that can unpack a block. */
  interface Source {
    /** Blocks of columns. */
    int blocks();

    int stride();

    /** Whether the first and the last 16 columns of a block are summed apart. */
    boolean halves();

    boolean lifted();

    /**
     * Unpacks a block of a group, with its scales and minima.
     *
     * @param slot which of the panel's two groups it becomes
     */
    void unpack(int group, int block, PanelProduct panel, int slot);
  }

  /**
   * Multiplies the first {@code tokens} rows, a multiple of {@link #TOKENS}, by two groups of rows.
   */
  void multiply(Source source, Activations in, int tokens, float[] out, int group) {
    for (int first = 0; first < tokens; first += TILE) {
      int count = Math.min(TILE, tokens - first);
      Arrays.fill(sums, 0, count * 2 * COUNT, 0);
      for (int block = 0; block < source.blocks(); block++) {
        source.unpack(group, block, this, 0);
        source.unpack(group + 1, block, this, 1);
        block(source, in, first, count, block);
      }
      for (int i = 0; i < count; i++) {
        int to = (first + i) * source.stride() + group * COUNT;
        System.arraycopy(sums, i * 2 * COUNT, out, to, 2 * COUNT);
      }
    }
  }

  private void block(Source source, Activations in, int first, int count, int block) {
    int middle = source.halves() ? BLOCK / 2 : BLOCK;
    for (int i = 0; i < count; i += TOKENS) {
      Span span = new Span(first + i, block, 0, middle, i * 2 * COUNT);
      four(in, scales, span);
      if (middle < BLOCK) {
        four(in, highScales, new Span(first + i, block, middle, BLOCK, i * 2 * COUNT));
      }
      if (source.lifted()) {
        lift(in, span);
      }
    }
  }

  /**
   * Columns of a block of four tokens.
   *
   * @param token the first one
   * @param from first column in the block, {@code end} the one after the last
   * @param to where the first token's sums are
   */
  private record Span(int token, int block, int from, int end, int to) {}

  /**
   * Two groups times some columns of four tokens.
   *
   * @param scale of the groups, for these columns
   */
  private void four(Activations in, float[] scale, Span span) {
    final float[] x = in.steps;
    int at = span.from * 2 * COUNT;
    final int x0 = in.step(span.token, span.block);
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = FloatVector.zero(FLOATS);
    FloatVector s10 = FloatVector.zero(FLOATS);
    FloatVector s11 = FloatVector.zero(FLOATS);
    FloatVector s20 = FloatVector.zero(FLOATS);
    FloatVector s21 = FloatVector.zero(FLOATS);
    FloatVector s30 = FloatVector.zero(FLOATS);
    FloatVector s31 = FloatVector.zero(FLOATS);
    for (int i = x0 + span.from; i < x0 + span.end; i++) {
      FloatVector w0 = FloatVector.fromArray(FLOATS, weights, at);
      FloatVector w1 = FloatVector.fromArray(FLOATS, weights, at + COUNT);
      FloatVector v = FloatVector.broadcast(FLOATS, x[i]);
      s00 = w0.fma(v, s00);
      s01 = w1.fma(v, s01);
      v = FloatVector.broadcast(FLOATS, x[i + BLOCK]);
      s10 = w0.fma(v, s10);
      s11 = w1.fma(v, s11);
      v = FloatVector.broadcast(FLOATS, x[i + 2 * BLOCK]);
      s20 = w0.fma(v, s20);
      s21 = w1.fma(v, s21);
      v = FloatVector.broadcast(FLOATS, x[i + 3 * BLOCK]);
      s30 = w0.fma(v, s30);
      s31 = w1.fma(v, s31);
      at += 2 * COUNT;
    }
    final float[] step = in.scales;
    int b = span.token * in.blocks + span.block;
    int to = span.to;
    FloatVector scale0 = FloatVector.fromArray(FLOATS, scale, 0);
    FloatVector scale1 = FloatVector.fromArray(FLOATS, scale, COUNT);
    s00.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, sums, to)).intoArray(sums, to);
    s01.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, sums, to + COUNT))
        .intoArray(sums, to + COUNT);
    b += in.blocks;
    to += 2 * COUNT;
    s10.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, sums, to)).intoArray(sums, to);
    s11.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, sums, to + COUNT))
        .intoArray(sums, to + COUNT);
    b += in.blocks;
    to += 2 * COUNT;
    s20.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, sums, to)).intoArray(sums, to);
    s21.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, sums, to + COUNT))
        .intoArray(sums, to + COUNT);
    b += in.blocks;
    to += 2 * COUNT;
    s30.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, sums, to)).intoArray(sums, to);
    s31.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, sums, to + COUNT))
        .intoArray(sums, to + COUNT);
  }

  /** Adds the block's minima times the sums of its activations. */
  private void lift(Activations in, Span span) {
    FloatVector minimum0 = FloatVector.fromArray(FLOATS, minima, 0);
    FloatVector minimum1 = FloatVector.fromArray(FLOATS, minima, COUNT);
    int to = span.to;
    for (int i = 0; i < TOKENS; i++) {
      FloatVector sum =
          FloatVector.broadcast(FLOATS, in.sums[(span.token + i) * in.blocks + span.block]);
      minimum0.fma(sum, FloatVector.fromArray(FLOATS, sums, to)).intoArray(sums, to);
      minimum1
          .fma(sum, FloatVector.fromArray(FLOATS, sums, to + COUNT))
          .intoArray(sums, to + COUNT);
      to += 2 * COUNT;
    }
  }
}
