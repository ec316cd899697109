package firstlight.model;

import java.util.List;

/**
 * The head of a GGUF file, checked: its metadata, and where its tensors lie.
 *
 * @param tensors in the file's order
 */
record GgufHead(Metadata metadata, List<Entry> tensors) {
  /**
   * A tensor as the head describes it.
   *
   * @param start its first byte in the file
   * @param bytes how many it takes, all of them inside the file
   */
  record Entry(String name, TensorType type, long[] shape, long start, long bytes) {
    long end() {
      return start + bytes;
    }
  }
}
