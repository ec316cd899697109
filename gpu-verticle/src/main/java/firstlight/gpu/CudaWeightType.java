package firstlight.gpu;

import firstlight.model.TensorType;
import java.util.Locale;
import java.util.Optional;

/** How weights are stored on a GPU. The order is that of {@code Type} in {@code quants.cuh}. */
enum CudaWeightType {
  BF16(32, 64),
  FP8(32, 32),
  Q8_0(TensorType.Q8_0),
  Q4_0(TensorType.Q4_0),
  Q4_1(TensorType.Q4_1),
  Q5_0(TensorType.Q5_0),
  Q5_1(TensorType.Q5_1),
  Q4_K(TensorType.Q4_K),
  Q5_K(TensorType.Q5_K),
  Q6_K(TensorType.Q6_K);

  private final int blockElements;
  private final int blockBytes;

  CudaWeightType(int blockElements, int blockBytes) {
    this.blockElements = blockElements;
    this.blockBytes = blockBytes;
  }

  CudaWeightType(TensorType type) {
    this(type.blockElements(), type.blockBytes());
  }

  /** The type that keeps a tensor's numbers as they are; none for those that become bf16. */
  static Optional<CudaWeightType> of(TensorType type) {
    return switch (type) {
      case F32, F16 -> Optional.empty();
      default -> Optional.of(valueOf(type.name()));
    };
  }

  int blockElements() {
    return blockElements;
  }

  long rowBytes(int columns) {
    return (long) columns / blockElements * blockBytes;
  }

  /** What the names of its kernels end with. */
  String suffix() {
    return name().toLowerCase(Locale.ROOT);
  }
}
