package firstlight.gpu;

import firstlight.model.ModelFile;
import firstlight.model.Tensor;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * Packed weights, one copy for all devices of a node that use them alike. They are let go when the
 * last of these devices closes.
 */
final class WeightStore {
  private final Map<Key, Shared> shared = new HashMap<>();

  /** What packed weights depend on. */
  private record Key(String digest, GpuConfig.Kernels kernels, boolean natively, int positions) {}

  private static final class Shared {
    private final ModelWeights weights;
    private int users;

    Shared(ModelWeights weights) {
      this.weights = weights;
    }
  }

  /** One device's use of some weights. Closed once. */
  interface Lease extends AutoCloseable {
    ModelWeights weights();

    @Override
    void close();
  }

  /**
   * Packs the weights, or finds them packed. Devices that come meanwhile wait.
   *
   * @param natively whether native kernels multiply
   * @param positions how long a Sequence can become
   */
  synchronized Lease acquire(
      ModelFile file, GpuConfig.Kernels kernels, boolean natively, int positions) {
    Key key = new Key(file.digest(), kernels, natively, positions);
    Shared found = shared.get(key);
    if (found == null) {
      found = new Shared(ModelWeights.load(file, kernels, natively, positions));
      shared.put(key, found);
      // The file stays open, but its pages are of no more use: they need not be resident.
      file.tensors().stream()
          .map(Tensor::data)
          .filter(MemorySegment::isMapped)
          .forEach(MemorySegment::unload);
    }
    found.users++;
    ModelWeights weights = found.weights;
    return new Lease() {
      @Override
      public ModelWeights weights() {
        return weights;
      }

      @Override
      public void close() {
        release(key);
      }
    };
  }

  private synchronized void release(Key key) {
    Shared used = shared.get(key);
    if (--used.users == 0) {
      shared.remove(key);
    }
  }
}
