package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;
import static firstlight.gpu.Lanes.INTS;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/**
 * Keys and values of all Sequences, in Blocks, outside the heap: memory that no Block of has been
 * used costs nothing. Layout: {@code [block][layer][kv head][keys, then values]}. Keys stand as
 * {@code [element][position]}, so that scores of neighbouring positions are lanes of one vector;
 * values as {@code [position][element]}, so that an output's elements are.
 *
 * <p>A head's part of a Block is given by the number of its first element. Nothing here checks it:
 * {@link StepCheck} has looked at every Block and position of a Step before.
 */
final class KvMemory implements AutoCloseable {
  private static final ByteOrder ORDER = ByteOrder.nativeOrder();

  /** As many shorts as there are floats in a vector. */
  private static final VectorSpecies<Short> HALVES =
      VectorSpecies.of(short.class, VectorShape.forBitSize(FLOATS.vectorBitSize() / 2));

  // A half's exponent and fraction, moved to where a float has them, and what the difference
  // between their exponents' biases makes of the number.
  private static final int HALF_SHIFT = 13;
  private static final int HALF_MASK = 0x8fffe000;
  private static final float HALF_FACTOR = 0x1p112f;

  private final Shape shape;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final boolean isHalf;

  /**
   * What a Block holds.
   *
   * @param blockTokens positions in it
   */
  record Shape(int layers, int kvHeads, int headSize, int blockTokens, GpuConfig.KvType type) {
    /** Bytes of a Block over all layers. */
    long blockBytes() {
      return (long) layers * kvHeads * partElements() * type.bytes();
    }

    /** Of keys and values of one head in one layer. */
    private long partElements() {
      return 2L * headSize * blockTokens;
    }
  }

  KvMemory(Shape shape, int blocks) {
    this.shape = shape;
    this.isHalf = shape.type == GpuConfig.KvType.F16;
    memory = ZeroedMemory.allocate(Math.multiplyExact(blocks, shape.blockBytes()), arena);
  }

  int blockTokens() {
    return shape.blockTokens;
  }

  /** Where a head's part of a Block begins. */
  long part(int layer, int block, int kvHead) {
    return (((long) block * shape.layers + layer) * shape.kvHeads + kvHead) * shape.partElements();
  }

  /** Where the values in a part begin. */
  long values(long part) {
    return part + shape.partElements() / 2;
  }

  /** Keeps one head's key of one position. */
  void storeKey(long part, int inBlock, float[] key, int at) {
    long to = part + inBlock;
    for (int i = 0; i < shape.headSize; i++) {
      store(to, key[at + i]);
      to += shape.blockTokens;
    }
  }

  /** The same for its value. */
  void storeValue(long part, int inBlock, float[] value, int at) {
    long to = values(part) + (long) inBlock * shape.headSize;
    for (int i = 0; i < shape.headSize; i++) {
      store(to + i, value[at + i]);
    }
  }

  private void store(long element, float number) {
    if (isHalf) {
      memory.set(ValueLayout.JAVA_SHORT, element * Short.BYTES, Float.floatToFloat16(number));
    } else {
      memory.set(ValueLayout.JAVA_FLOAT, element * Float.BYTES, number);
    }
  }

  /**
   * Reads the keys of as many positions as a vector has lanes: {@code [element][position]}.
   *
   * @param from where the first element's are
   * @param apart floats between one element's and the next one's
   */
  void loadKeys(long from, float[] into, int to, int apart) {
    long key = from;
    int end = to + shape.headSize * apart;
    for (int at = to; at < end; at += apart) {
      load(key).intoArray(into, at);
      key += shape.blockTokens;
    }
  }

  /** Reads some values as they stand. */
  void loadValues(long from, int count, float[] into) {
    for (int i = 0; i < count; i += COUNT) {
      load(from + i).intoArray(into, i);
    }
  }

  /** Neighbouring numbers, as many as a vector has lanes. */
  FloatVector load(long element) {
    if (!isHalf) {
      return FloatVector.fromMemorySegment(FLOATS, memory, element * Float.BYTES, ORDER);
    }
    IntVector bits =
        (IntVector)
            ShortVector.fromMemorySegment(HALVES, memory, element * Short.BYTES, ORDER)
                .convertShape(VectorOperators.S2I, INTS, 0);
    return bits.lanewise(VectorOperators.LSHL, HALF_SHIFT)
        .and(HALF_MASK)
        .reinterpretAsFloats()
        .mul(HALF_FACTOR);
  }

  /** The memory is gone afterwards, and whoever uses it still fails. */
  @Override
  public void close() {
    arena.close();
  }
}
