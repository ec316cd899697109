package firstlight.model;

import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * How a tensor's numbers are stored: in blocks of {@link #blockElements} numbers that take {@link
 * #blockBytes} bytes. The layouts are those of ggml; {@link Blocks} decodes them.
 */
public enum TensorType {
  F32(0, 1, 4),
  F16(1, 1, 2),
  BF16(30, 1, 2),
  Q4_0(2, 32, 18),
  Q4_1(3, 32, 20),
  Q5_0(6, 32, 22),
  Q5_1(7, 32, 24),
  Q8_0(8, 32, 34),
  Q4_K(12, 256, 144),
  Q5_K(13, 256, 176),
  Q6_K(14, 256, 210);

  private final int number;
  private final int blockElements;
  private final int blockBytes;

  TensorType(int number, int blockElements, int blockBytes) {
    this.number = number;
    this.blockElements = blockElements;
    this.blockBytes = blockBytes;
  }

  /** Numbers in one block. */
  public int blockElements() {
    return blockElements;
  }

  /** Bytes of one block. */
  public int blockBytes() {
    return blockBytes;
  }

  /** Its number in a GGUF file. */
  int number() {
    return number;
  }

  static Optional<TensorType> of(int number) {
    return Arrays.stream(values()).filter(type -> type.number == number).findAny();
  }

  static String supported() {
    return Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", "));
  }
}
