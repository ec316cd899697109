package firstlight.model;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * One tensor of a model file.
 *
 * @param shape as in the file: innermost dimension first; one to four, each at least 1
 * @param data its bytes, a view of the mapped file: rows one after another, no padding. It lives as
 *     long as its {@link ModelFile}; see there on files that change
 */
public record Tensor(String name, TensorType type, long[] shape, MemorySegment data) {

  public Tensor {
    shape = shape.clone();
  }

  @Override
  public long[] shape() {
    return shape.clone();
  }

  /** Product of all dimensions but the innermost. */
  public long rows() {
    long rows = 1;
    for (int i = 1; i < shape.length; i++) {
      rows *= shape[i];
    }
    return rows;
  }

  /** The innermost dimension: numbers in one row. A multiple of the type's block. */
  public int columns() {
    return (int) shape[0];
  }

  /** Bytes of one row. */
  public long rowBytes() {
    return (long) columns() / type.blockElements() * type.blockBytes();
  }

  /**
   * Decodes one row to float32, exactly as ggml defines it.
   *
   * @throws IndexOutOfBoundsException no such row, or {@code into} has no room for a row
   */
  public void dequantize(long row, float[] into, int offset) {
    if (row < 0 || row >= rows()) {
      throw new IndexOutOfBoundsException("row " + row + " of " + rows());
    }
    Blocks.decode(type, data.asSlice(row * rowBytes(), rowBytes()), into, offset);
  }

  /** Two tensors are the same when they are the same bytes of the same mapping. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Tensor that
        && name.equals(that.name)
        && type == that.type
        && Arrays.equals(shape, that.shape)
        && data.equals(that.data);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    return name + " " + type + " " + Arrays.toString(shape);
  }
}
