package firstlight.gpu;

import java.util.stream.IntStream;

/**
 * Keys and values of all Sequences, in Blocks. Within a Block of a layer each head has its own
 * part: keys as {@code [element][position]}, so that scores of neighbouring positions are lanes of
 * one vector; values as {@code [position][element]}, so that an output's elements are.
 */
final class KvMemory {
  private final int kvHeads;
  private final int headSize;
  private final int blockTokens;
  private final float[][] keys;
  private final float[][] values;

  KvMemory(int layers, int kvHeads, int headSize, int blocks, int blockTokens) {
    this.kvHeads = kvHeads;
    this.headSize = headSize;
    this.blockTokens = blockTokens;
    int floats = Math.multiplyExact(blocks, kvHeads * headSize * blockTokens);
    keys = IntStream.range(0, layers).mapToObj(_ -> new float[floats]).toArray(float[][]::new);
    values = IntStream.range(0, layers).mapToObj(_ -> new float[floats]).toArray(float[][]::new);
  }

  /** Bytes that a Block takes over all layers. */
  static long blockBytes(int layers, int kvHeads, int headSize, int blockTokens) {
    return 2L * Float.BYTES * layers * kvHeads * headSize * blockTokens;
  }

  /** The most Blocks that fit the arrays, whatever the memory. */
  static int blocksMax(int kvHeads, int headSize, int blockTokens) {
    return (Integer.MAX_VALUE - 16) / (kvHeads * headSize * blockTokens);
  }

  int blockTokens() {
    return blockTokens;
  }

  float[] keys(int layer) {
    return keys[layer];
  }

  float[] values(int layer) {
    return values[layer];
  }

  /** Where a head's part of a Block begins, in keys and values alike. */
  int at(int block, int kvHead) {
    return (block * kvHeads + kvHead) * headSize * blockTokens;
  }

  /**
   * Keeps one head's key of one position.
   *
   * @param part where the head's part begins, as {@link #at} says
   */
  void storeKey(int layer, int part, int inBlock, float[] key, int at) {
    float[] into = keys[layer];
    for (int i = 0; i < headSize; i++) {
      into[part + i * blockTokens + inBlock] = key[at + i];
    }
  }

  void storeValue(int layer, int part, int inBlock, float[] value, int at) {
    System.arraycopy(value, at, values[layer], part + inBlock * headSize, headSize);
  }
}
