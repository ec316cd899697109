package firstlight.gpu;

import firstlight.gpu.cuda.Gpu;
import firstlight.model.Hyperparameters;
import firstlight.model.ModelFile;

/** Where a cuda device has its weights from. */
interface CudaWeightSource {
  Hyperparameters model();

  /** Says which weights they are: equal digests, equal numbers. */
  String digest();

  /**
   * Brings the weights to a GPU.
   *
   * @param positions how long a Sequence can become
   * @param shard what of them
   * @throws UnsupportedOperationException the model can not be shared out so
   */
  CudaWeights bring(Gpu gpu, CudaConfig.Weights choice, int positions, Shard shard);

  /** A file, which must stay as it is until its weights have been brought. */
  static CudaWeightSource of(ModelFile file) {
    return new CudaWeightSource() {
      @Override
      public Hyperparameters model() {
        return file.hyperparameters();
      }

      @Override
      public String digest() {
        return file.digest();
      }

      @Override
      public CudaWeights bring(Gpu gpu, CudaConfig.Weights choice, int positions, Shard shard) {
        Shard.requireShares(file, shard.count());
        CudaWeights weights = CudaWeights.load(file, gpu, choice, positions, shard);
        file.checkUnchanged();
        return weights;
      }
    };
  }
}
