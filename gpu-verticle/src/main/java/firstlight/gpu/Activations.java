package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;
import static firstlight.gpu.Lanes.INTS;
import static firstlight.gpu.Lanes.SHORTS;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShuffle;

/**
 * The input of a matrix product: one row of floats a token, and the same numbers as signed bytes in
 * blocks of 32 with a scale each.
 *
 * <p>The bytes of a block stand in 16 ints as pairs of shorts: an int has an element of the first
 * 16 in its low half and the one 16 further in its high half. Of every four ints the middle two are
 * exchanged, so that four ints hold the elements 0, 2, 1 and 3: then two neighbouring elements lie
 * as far apart in a packed weight as two bytes do, which suits processors that multiply bytes.
 */
final class Activations {
  /** How a matrix wants the bytes. What no matrix wants is not made. */
  enum Form {
    /** {@link #pairs} and {@link #differences}, where 16 products fit a short. */
    SHORTS,
    /** {@link #steps}, {@link #byteDifferences} and {@link #corrections}, for bytes. */
    WIDE,
    /** {@link #bytes}, for native kernels. */
    BYTES;

    /** All that some matrices want of their common input. */
    static Set<Form> of(Matrix... matrices) {
      Set<Form> forms = EnumSet.noneOf(Form.class);
      Arrays.stream(matrices).map(Matrix::forms).forEach(forms::addAll);
      return forms;
    }
  }

  static final int BLOCK = 32;
  static final int PAIRS = BLOCK / 2;
  private static final float STEPS = 127f;

  /** Native kernels read that many tokens further than they were asked for. */
  private static final int BEYOND = 15;

  /** Makes any short that is wanted as an unsigned one 0 or more. */
  static final int LIFT = 0x8000;

  /** Adding this and subtracting it again rounds a small float to the nearest integer. */
  private static final float ROUNDING = 12582912f;

  /** Below this a block is taken as zeros, since the inverse of its scale would be infinite. */
  private static final float SMALLEST = 1e-30f;

  private static final VectorShuffle<Integer> EXCHANGED =
      VectorShuffle.fromOp(INTS, i -> i & ~3 | i << 1 & 2 | i >> 1 & 1);
  private static final VectorShuffle<Integer> ONE_BEFORE =
      VectorShuffle.fromOp(INTS, i -> i & ~3 | Math.max(0, (i & 3) - 1));
  private static final VectorShuffle<Integer> TWO_AFTER =
      VectorShuffle.fromOp(INTS, i -> i & ~3 | i + 2 & 3);
  private static final VectorShuffle<Integer> NEIGHBOUR = VectorShuffle.fromOp(INTS, i -> i ^ 1);
  private static final VectorMask<Short> LAST_TWO =
      VectorMask.fromLong(SHORTS, 0xf0f0f0f0f0f0f0f0L);
  private static final VectorMask<Integer> LAST_TWO_INTS =
      VectorMask.fromLong(INTS, 0xccccccccccccccccL);
  private static final VectorShuffle<Integer> FIRST_TWO =
      VectorShuffle.fromOp(INTS, i -> (i / 2 * 4 + i % 2) % COUNT);
  private static final VectorMask<Integer> FIRST_HALF =
      VectorMask.fromLong(INTS, (1L << COUNT / 2) - 1);
  private static final ShortVector MINUS_256_OR_NOTHING =
      ShortVector.zero(SHORTS).blend(ShortVector.broadcast(SHORTS, -256), LAST_TWO);
  private static final IntVector LIFTS =
      IntVector.broadcast(INTS, LIFT).blend(IntVector.broadcast(INTS, LIFT / 2), LAST_TWO_INTS);
  private static final ShortVector MINUS_SIXTEEN_OR_NOTHING =
      ShortVector.zero(SHORTS)
          .blend(
              ShortVector.broadcast(SHORTS, -16), VectorMask.fromLong(SHORTS, 0xfcfcfcfcfcfcfcfcL));

  final int tokens;
  final int columns;
  final int blocks;

  /** {@code [token][column]}. */
  final float[] values;

  /** {@code [block][token][32]}: the bytes again, as floats. */
  final float[] steps;

  /** {@code [token][block][16]}. */
  final int[] pairs;

  /**
   * The same, but from each, save every fourth, 16 times the one before it is taken away, in shorts
   * that wrap around: what {@link NibbleMatrix} multiplies by.
   */
  final int[] differences;

  /**
   * {@link #pairs} again, but from every third and fourth of four, 256 times the first and second
   * are taken away, in shorts that wrap around: what {@link ByteMatrix} multiplies by.
   */
  final int[] byteDifferences;

  /**
   * {@code [token][block][16]}, pairs of shorts that wrap around: what takes away again that stored
   * bytes are {@link ByteMatrix#OFFSET} more than their quants. The first and second of four are
   * for one int of a block each, plus {@link #LIFT} in the low half; the third and the fourth for
   * both of these together, plus half of it.
   */
  final int[] corrections;

  /** {@code [token][block]}: what one step of the block's bytes is worth. */
  final float[] scales;

  /** {@code [token][block]}: the sum of the block's bytes times its scale, for weights' minima. */
  final float[] sums;

  /** {@code [token][block][2]}: the sums of the block's bytes, and of the first 16 of them. */
  final int[] totals;

  /**
   * {@code [token][2][block][8]}: of every four ints of {@link #pairs} the bytes of two and two put
   * together in one, for processors that multiply four bytes at once; then the same without the
   * bytes of the last 16 elements.
   */
  final int[] bytes;

  final MemorySegment bytesSegment;
  final MemorySegment scalesSegment;
  final MemorySegment sumsSegment;
  final MemorySegment totalsSegment;
  private final Set<Form> forms;

  /**
   * @param forms in which the bytes are wanted; if in none, {@link #quantise} does nothing
   */
  Activations(int tokens, int columns, Set<Form> forms) {
    this.columns = columns;
    this.blocks = forms.isEmpty() ? 0 : (columns + BLOCK - 1) / BLOCK;
    this.forms = Set.copyOf(forms);
    // Slack, so that the last block of the last row may be read whole.
    this.values = new float[tokens * columns + BLOCK];
    this.tokens = tokens;
    this.steps = new float[size(Form.WIDE, BLOCK)];
    this.pairs = new int[size(Form.SHORTS, PAIRS)];
    this.differences = new int[size(Form.SHORTS, PAIRS)];
    this.byteDifferences = new int[size(Form.WIDE, PAIRS)];
    this.corrections = new int[size(Form.WIDE, PAIRS)];
    this.scales = new float[(tokens + BEYOND) * blocks];
    this.sums = new float[(tokens + BEYOND) * blocks];
    this.totals = new int[2 * tokens * blocks];
    int byTiles = forms.contains(Form.BYTES) ? tokens + BEYOND : 0;
    this.bytes = new int[byTiles * blocks * PAIRS];
    this.bytesSegment = MemorySegment.ofArray(bytes);
    this.scalesSegment = MemorySegment.ofArray(scales);
    this.sumsSegment = MemorySegment.ofArray(sums);
    this.totalsSegment = MemorySegment.ofArray(totals);
  }

  private int size(Form form, int ofBlock) {
    return forms.contains(form) ? tokens * blocks * ofBlock : 0;
  }

  int row(int token) {
    return token * columns;
  }

  void quantise(int token) {
    quantise(token, 0, columns);
  }

  /** Makes the bytes of columns {@code from} to {@code to}, both multiples of 32. */
  void quantise(int token, int from, int to) {
    if (blocks > 0) {
      for (int column = from; column < to; column += BLOCK) {
        quantiseBlock(token, column / BLOCK);
      }
    }
  }

  /** Where a block of {@link #steps} is. */
  int step(int token, int block) {
    return (block * tokens + token) * BLOCK;
  }

  private void quantiseBlock(int token, int inRow) {
    int at = row(token) + inRow * BLOCK;
    int block = token * blocks + inRow;
    FloatVector largest = FloatVector.zero(FLOATS);
    for (int i = 0; i < BLOCK; i += COUNT) {
      largest = largest.max(FloatVector.fromArray(FLOATS, values, at + i).abs());
    }
    float max = largest.reduceLanes(VectorOperators.MAX);
    float scale = max < SMALLEST ? 0 : max / STEPS;
    float inverse = scale == 0 ? 0 : 1 / scale;
    IntVector total = IntVector.zero(INTS);
    IntVector first = IntVector.zero(INTS);
    for (int i = 0; i < PAIRS; i += COUNT) {
      FloatVector lowStep = rounded(at + i, inverse);
      FloatVector highStep = rounded(at + i + PAIRS, inverse);
      IntVector low = (IntVector) lowStep.convert(VectorOperators.F2I, 0);
      IntVector high = (IntVector) highStep.convert(VectorOperators.F2I, 0);
      first = first.add(low);
      total = total.add(low).add(high);
      IntVector both =
          low.and(0xffff).or(high.lanewise(VectorOperators.LSHL, 16)).rearrange(EXCHANGED);
      if (steps.length > 0) {
        int step = step(token, inRow) + i;
        lowStep.intoArray(steps, step);
        highStep.intoArray(steps, step + PAIRS);
        putWide(both, block * PAIRS + i);
      }
      if (pairs.length > 0) {
        putNibbles(both, block * PAIRS + i);
      }
      if (bytes.length > 0) {
        putBytes(both, token * blocks * PAIRS + inRow * PAIRS / 2 + i / 2);
      }
    }
    scales[block] = scale;
    totals[2 * block] = total.reduceLanes(VectorOperators.ADD);
    totals[2 * block + 1] = first.reduceLanes(VectorOperators.ADD);
    sums[block] = scale * totals[2 * block];
  }

  /** How many steps some elements are. */
  private FloatVector rounded(int at, float inverse) {
    return FloatVector.fromArray(FLOATS, values, at).mul(inverse).add(ROUNDING).sub(ROUNDING);
  }

  private void putNibbles(IntVector both, int at) {
    both.intoArray(pairs, at);
    ShortVector before = both.rearrange(ONE_BEFORE).reinterpretAsShorts();
    before
        .mul(MINUS_SIXTEEN_OR_NOTHING)
        .add(both.reinterpretAsShorts())
        .reinterpretAsInts()
        .intoArray(differences, at);
  }

  private void putWide(IntVector both, int at) {
    // Minus 256 times the byte two ints before: that is in the place of two after, as of four.
    both.rearrange(TWO_AFTER)
        .reinterpretAsShorts()
        .mul(MINUS_256_OR_NOTHING)
        .add(both.reinterpretAsShorts())
        .reinterpretAsInts()
        .intoArray(byteDifferences, at);
    ShortVector offset = both.reinterpretAsShorts().mul((short) -ByteMatrix.OFFSET);
    ShortVector ints =
        offset.add(offset.reinterpretAsInts().rearrange(TWO_AFTER).reinterpretAsShorts());
    ShortVector all = ints.add(ints.reinterpretAsInts().rearrange(NEIGHBOUR).reinterpretAsShorts());
    ints.blend(all, LAST_TWO)
        .add(LIFTS.reinterpretAsShorts())
        .reinterpretAsInts()
        .intoArray(corrections, at);
  }

  private void putBytes(IntVector both, int at) {
    IntVector fours =
        both.and(0x00ff00ff)
            .or(
                both.rearrange(TWO_AFTER)
                    .and(0x00ff00ff)
                    .lanewise(VectorOperators.LSHL, Byte.SIZE));
    fours.rearrange(FIRST_TWO).intoArray(bytes, at, FIRST_HALF);
    fours.rearrange(FIRST_TWO).and(0xffff).intoArray(bytes, at + PAIRS / 2 * blocks, FIRST_HALF);
  }
}
