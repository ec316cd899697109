package firstlight.gpu;

import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.model.Hyperparameters;

/**
 * Where a Step's numbers are on their way through the layers: addresses of one row a token. Made
 * once, for the largest Step.
 *
 * @param stream the residual stream: {@code [rows][embedding]}
 * @param added what a part adds to it
 * @param normed a product's input, bf16
 * @param turned queries, halves
 * @param attended the attention's output, bf16
 * @param hidden the gated activation, bf16
 * @param wanted the sampled rows' normalised stream, bf16
 * @param adjusted logits with penalties
 * @param partials of the attention, where splits are dealt out
 * @param ranges of products, which several GPUs bring together: {@code
 *     [CudaMatrix.RANGES][rows][embedding]}; of one GPU alone 0
 */
record CudaBuffers(
    long stream,
    long added,
    long normed,
    long queries,
    long keys,
    long values,
    long turned,
    long attended,
    long gates,
    long ups,
    long hidden,
    long wanted,
    long logits,
    long adjusted,
    long partials,
    long ranges) {

  /**
   * @param isShared whether other GPUs have shares of the model
   */
  static CudaBuffers of(Gpu gpu, Hyperparameters model, CudaShape shape, boolean isShared) {
    long rows = shape.stepTokensMax();
    long width = model.embedding();
    long heads = (long) model.heads() * model.headSize();
    long kvHeads = (long) model.kvHeads() * model.headSize();
    Room room = new Room(gpu);
    return new CudaBuffers(
        room.floats(rows * width),
        room.floats(rows * width),
        room.halves(rows * width),
        room.floats(rows * heads),
        room.floats(rows * kvHeads),
        room.floats(rows * kvHeads),
        room.halves(rows * heads),
        room.halves(rows * heads),
        room.floats(rows * model.feedForward()),
        room.floats(rows * model.feedForward()),
        room.halves(rows * model.feedForward()),
        room.halves(rows * width),
        room.floats((long) shape.logitRows() * model.vocabulary()),
        room.floats((long) shape.logitRows() * model.vocabulary()),
        room.floats(
            (long) CudaShape.DEALT_MAX
                * model.kvHeads()
                * CudaShape.QUERIES
                * (model.headSize() + 2)),
        isShared ? room.floats(CudaMatrix.RANGES * rows * width) : 0);
  }

  /** Bytes that all of them take. */
  static long bytes(Hyperparameters model, CudaShape shape, boolean isShared) {
    long rows = shape.stepTokensMax();
    long heads = (long) (model.heads() + 2 * model.kvHeads()) * model.headSize();
    long row = 12L * model.embedding() + 8 * heads + 10L * model.feedForward();
    long partials =
        (long) CudaShape.DEALT_MAX * model.kvHeads() * CudaShape.QUERIES * (model.headSize() + 2);
    long ranges = isShared ? 4L * CudaMatrix.RANGES * model.embedding() : 0;
    return rows * (row + ranges) + 8L * shape.logitRows() * model.vocabulary() + 4 * partials;
  }

  private record Room(Gpu gpu) {
    long floats(long count) {
      return take(count * Float.BYTES);
    }

    long halves(long count) {
      return take(count * Short.BYTES);
    }

    private long take(long bytes) {
      DeviceMemory memory = gpu.allocate(bytes, "a Step's numbers");
      return memory.address();
    }
  }
}
