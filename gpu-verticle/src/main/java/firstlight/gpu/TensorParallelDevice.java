package firstlight.gpu;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.Nccl;
import firstlight.protocol.Device;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.MeshException;
import firstlight.protocol.RunStep;
import firstlight.protocol.StepResult;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A device made of several GPUs that share one model: see {@link Shard}. Its numbers are those of
 * one GPU with the whole model, bit for bit.
 *
 * <p>Each GPU has a thread of its own, since a GPU waits for the others in the middle of a Step.
 */
final class TensorParallelDevice implements Device {
  private final RankThreads<Rank> ranks;
  private final Nccl nccl;
  private final DeviceCapacity capacity;
  private final StepCheck check;

  /** What a GPU's thread has: weights, and then a device with them. */
  private static final class Rank {
    private @Nullable LoadedModel loaded;
    private @Nullable CudaDevice device;

    void load(LoadedModel model) {
      loaded = model;
    }

    void complete(long blocks, Nccl nccl) {
      LoadedModel model = loaded;
      loaded = null; // It closes itself if it fails.
      device = model.device(blocks, Optional.of(nccl));
    }

    void close() {
      if (device != null) {
        device.close();
      } else if (loaded != null) {
        loaded.close();
      }
    }
  }

  private TensorParallelDevice(RankThreads<Rank> ranks, Nccl nccl) {
    this.ranks = ranks;
    this.nccl = nccl;
    capacity = ranks.of(0).device.capacity();
    check = new StepCheck(capacity);
  }

  /**
   * Brings the shares of a model to GPUs.
   *
   * @param openings of all shares, each for another GPU
   * @param loader brings one to its GPU
   * @throws CudaException a GPU has not enough memory, or failed, or they can not be connected
   * @throws UnsupportedOperationException the model can not be shared by so many
   */
  static TensorParallelDevice open(
      List<LoadedModel.Opening> openings, Function<LoadedModel.Opening, LoadedModel> loader) {
    RankThreads<Rank> ranks = new RankThreads<>(openings.size(), Rank::new);
    try {
      ranks.all((rank, self) -> self.load(loader.apply(openings.get(rank))));
      Nccl nccl = Nccl.open(openings.stream().map(LoadedModel.Opening::ordinal).toList());
      try {
        // As many as there is room for on each.
        long blocks = ranks.least(self -> self.loaded.blocks());
        ranks.all((_, self) -> self.complete(blocks, nccl));
        return new TensorParallelDevice(ranks, nccl);
      } catch (RuntimeException | Error e) {
        nccl.abort();
        throw e;
      }
    } catch (RuntimeException | Error e) {
      ranks.close(Rank::close);
      throw e;
    }
  }

  @Override
  public DeviceCapacity capacity() {
    return capacity;
  }

  /**
   * {@inheritDoc}
   *
   * @throws MeshException as {@link CudaDevice#run}: what the first GPU that failed says
   */
  @Override
  public StepResult run(RunStep step) {
    check.check(step);
    return ranks.first(
        self -> {
          try {
            return self.device.run(step);
          } catch (RuntimeException | Error e) {
            // Else the others would wait for this one for ever.
            nccl.abort();
            throw e;
          }
        });
  }

  @Override
  public void check() {
    ranks.all((_, self) -> self.device.check());
  }

  @Override
  public void close() {
    nccl.close();
    ranks.close(Rank::close);
  }
}
