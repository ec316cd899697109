package firstlight.gpu;

import static firstlight.gpu.Activations.BLOCK;
import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;
import static firstlight.gpu.Lanes.PAIR;

import jdk.incubator.vector.FloatVector;

/**
 * The product for many tokens at once, of weights too large for sums of shorts: one block of
 * columns of a pair of groups of rows is unpacked to floats, then multiplied by that block of all
 * tokens. One thread's own.
 *
 * <p>Quants and activations are small integers, so their products and sums are exact in floats too,
 * and the result is bit for bit what the integer kernels give for one token.
 *
 * <p>Calls between vector operations are written out: the compiler stops inlining own methods in
 * long ones, and then every vector becomes an object.
 */
final class FloatPanel {
  /** Tokens whose sums are held in registers at once. */
  static final int TOKENS = 4;

  /** As many as there are registers for. */
  private static final int MANY = COUNT < 16 ? TOKENS : 2 * TOKENS;

  /** From so many tokens on unpacking pays; twice as many where halves are added apart. */
  private static final int TOKENS_MIN = 8;

  /** {@code [column][PAIR]}. */
  private final float[] weights = new float[BLOCK * PAIR];

  static boolean pays(QuantisedMatrix source, int tokens) {
    return tokens >= (source.halves() ? 2 * TOKENS_MIN : TOKENS_MIN);
  }

  /** Multiplies a number of tokens that is a multiple of {@link #TOKENS} by one pair of groups. */
  void multiply(
      QuantisedMatrix source,
      Activations in,
      Share.Range tokens,
      float[] out,
      int pair,
      Tile tile) {
    for (int token = tokens.from(); token < tokens.to(); token++) {
      FloatVector.zero(FLOATS).intoArray(out, source.output(token, pair));
      FloatVector.zero(FLOATS).intoArray(out, source.output(token, pair) + COUNT);
    }
    for (int block = 0; block < source.blocks; block++) {
      source.unpack(pair, block, weights);
      block(source, in, tokens, out, new Place(pair, block), tile);
    }
  }

  /** A block of columns of a pair. */
  private record Place(int pair, int block) {}

  private void block(
      QuantisedMatrix source,
      Activations in,
      Share.Range tokens,
      float[] out,
      Place place,
      Tile tile) {
    int middle = source.halves() ? BLOCK / 2 : BLOCK;
    int stride = source.stride();
    int token = tokens.from();
    int step = MANY;
    while (token < tokens.to()) {
      if (token + step > tokens.to()) {
        step = TOKENS;
      }
      int to = source.output(token, place.pair);
      Span span = new Span(token, place.block, 0, middle, to, stride, place.block * PAIR);
      some(step, in, tile.scales, span, out);
      if (middle < BLOCK) {
        Span rest = new Span(token, place.block, middle, BLOCK, to, stride, span.unit);
        some(step, in, tile.highScales, rest, out);
      }
      if (source.lifted()) {
        lift(step, in, tile.minima, span, out);
      }
      token += step;
    }
  }

  /**
   * Columns of a block of some tokens.
   *
   * @param token the first one
   * @param from first column in the block, {@code end} the one after the last
   * @param to where the first token's sums are
   * @param stride to the next token's
   * @param unit where the block's scales and minima are
   */
  private record Span(int token, int block, int from, int end, int to, int stride, int unit) {}

  private void some(int tokens, Activations in, float[] scale, Span span, float[] out) {
    if (tokens == TOKENS) {
      four(in, scale, span, out);
    } else {
      eight(in, scale, span, out);
    }
  }

  /**
   * A pair of groups times some columns of four tokens.
   *
   * @param scale of the groups, for these columns
   */
  private void four(Activations in, float[] scale, Span span, float[] out) {
    final float[] x = in.steps;
    int at = span.from * PAIR;
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
      FloatVector v;
      v = FloatVector.broadcast(FLOATS, x[i]);
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
      at += PAIR;
    }
    final float[] step = in.scales;
    int b = span.token * in.blocks + span.block;
    int to = span.to;
    FloatVector scale0 = FloatVector.fromArray(FLOATS, scale, span.unit);
    FloatVector scale1 = FloatVector.fromArray(FLOATS, scale, span.unit + COUNT);
    s00.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s01.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
    b += in.blocks;
    to += span.stride;
    s10.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s11.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
    b += in.blocks;
    to += span.stride;
    s20.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s21.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
    b += in.blocks;
    to += span.stride;
    s30.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s31.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
  }

  /**
   * A pair of groups times some columns of eight tokens.
   *
   * @param scale of the groups, for these columns
   */
  private void eight(Activations in, float[] scale, Span span, float[] out) {
    final float[] x = in.steps;
    int at = span.from * PAIR;
    final int x0 = in.step(span.token, span.block);
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = FloatVector.zero(FLOATS);
    FloatVector s10 = FloatVector.zero(FLOATS);
    FloatVector s11 = FloatVector.zero(FLOATS);
    FloatVector s20 = FloatVector.zero(FLOATS);
    FloatVector s21 = FloatVector.zero(FLOATS);
    FloatVector s30 = FloatVector.zero(FLOATS);
    FloatVector s31 = FloatVector.zero(FLOATS);
    FloatVector s40 = FloatVector.zero(FLOATS);
    FloatVector s41 = FloatVector.zero(FLOATS);
    FloatVector s50 = FloatVector.zero(FLOATS);
    FloatVector s51 = FloatVector.zero(FLOATS);
    FloatVector s60 = FloatVector.zero(FLOATS);
    FloatVector s61 = FloatVector.zero(FLOATS);
    FloatVector s70 = FloatVector.zero(FLOATS);
    FloatVector s71 = FloatVector.zero(FLOATS);
    for (int i = x0 + span.from; i < x0 + span.end; i++) {
      FloatVector w0 = FloatVector.fromArray(FLOATS, weights, at);
      FloatVector w1 = FloatVector.fromArray(FLOATS, weights, at + COUNT);
      FloatVector v;
      v = FloatVector.broadcast(FLOATS, x[i]);
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
      v = FloatVector.broadcast(FLOATS, x[i + 4 * BLOCK]);
      s40 = w0.fma(v, s40);
      s41 = w1.fma(v, s41);
      v = FloatVector.broadcast(FLOATS, x[i + 5 * BLOCK]);
      s50 = w0.fma(v, s50);
      s51 = w1.fma(v, s51);
      v = FloatVector.broadcast(FLOATS, x[i + 6 * BLOCK]);
      s60 = w0.fma(v, s60);
      s61 = w1.fma(v, s61);
      v = FloatVector.broadcast(FLOATS, x[i + 7 * BLOCK]);
      s70 = w0.fma(v, s70);
      s71 = w1.fma(v, s71);
      at += PAIR;
    }
    final float[] step = in.scales;
    int b = span.token * in.blocks + span.block;
    int to = span.to;
    FloatVector scale0 = FloatVector.fromArray(FLOATS, scale, span.unit);
    FloatVector scale1 = FloatVector.fromArray(FLOATS, scale, span.unit + COUNT);
    s00.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s01.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
    b += in.blocks;
    to += span.stride;
    s10.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s11.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
    b += in.blocks;
    to += span.stride;
    s20.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s21.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
    b += in.blocks;
    to += span.stride;
    s30.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s31.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
    b += in.blocks;
    to += span.stride;
    s40.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s41.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
    b += in.blocks;
    to += span.stride;
    s50.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s51.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
    b += in.blocks;
    to += span.stride;
    s60.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s61.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
    b += in.blocks;
    to += span.stride;
    s70.mul(step[b]).fma(scale0, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
    s71.mul(step[b])
        .fma(scale1, FloatVector.fromArray(FLOATS, out, to + COUNT))
        .intoArray(out, to + COUNT);
  }

  /** Adds the block's minima times the sums of its activations. */
  private static void lift(int tokens, Activations in, float[] minima, Span span, float[] out) {
    FloatVector minimum0 = FloatVector.fromArray(FLOATS, minima, span.unit);
    FloatVector minimum1 = FloatVector.fromArray(FLOATS, minima, span.unit + COUNT);
    int to = span.to;
    for (int i = 0; i < tokens; i++) {
      FloatVector sum =
          FloatVector.broadcast(FLOATS, in.sums[(span.token + i) * in.blocks + span.block]);
      minimum0.fma(sum, FloatVector.fromArray(FLOATS, out, to)).intoArray(out, to);
      minimum1.fma(sum, FloatVector.fromArray(FLOATS, out, to + COUNT)).intoArray(out, to + COUNT);
      to += span.stride;
    }
  }
}
