package firstlight.gpu.cuda;

import static org.bytedeco.cuda.global.nccl.ncclCommAbort;
import static org.bytedeco.cuda.global.nccl.ncclCommDestroy;
import static org.bytedeco.cuda.global.nccl.ncclCommInitAll;
import static org.bytedeco.cuda.global.nccl.ncclGetErrorString;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.bytedeco.cuda.nccl.ncclComm;
import org.bytedeco.javacpp.PointerPointer;

/**
 * Several GPUs that exchange numbers over NVIDIA's library for it. Each GPU's own thread gives the
 * work to that GPU's stream; every GPU must be given the same.
 *
 * <p>What a GPU waits for may never come, where another one has failed: {@link #abort} ends that.
 */
public final class Nccl implements AutoCloseable {
  static final String LIBRARY = "libnccl.so.2";
  private static final int CALL_SECONDS_MAX = 1;

  private final List<ncclComm> members = new ArrayList<>();

  /** Held for reading by who uses a member, since an ended one is memory that was freed. */
  private final ReadWriteLock use = new ReentrantReadWriteLock();

  private boolean isEnded;

  private Nccl(PointerPointer<ncclComm> made, int count) {
    for (int rank = 0; rank < count; rank++) {
      members.add(made.get(ncclComm.class, rank));
    }
  }

  /** Why it can not be used here; empty: it can. */
  public static Optional<String> unavailable() {
    return ForeignLibrary.open(LIBRARY).isPresent()
        ? Optional.empty()
        : Optional.of(
            LIBRARY + " was not found: install NCCL 2 for CUDA 13, or put it on LD_LIBRARY_PATH");
  }

  /**
   * Connects GPUs with each other.
   *
   * @param ordinals their numbers; the first one has rank 0
   * @throws CudaException they can not be connected
   */
  public static Nccl open(List<Integer> ordinals) {
    int count = ordinals.size();
    try (PointerPointer<ncclComm> made = new PointerPointer<>(count)) {
      int[] devices = ordinals.stream().mapToInt(Integer::intValue).toArray();
      check(ncclCommInitAll(made, count, devices), "ncclCommInitAll");
      return new Nccl(made, count);
    }
  }

  /** Work of the GPU with a rank: brings together what all have. */
  public StreamWork gather(int rank, Gathered what) {
    return new NcclGather(this, members.get(rank), rank, what);
  }

  /**
   * What is brought together: {@code [rank][floats]}.
   *
   * @param address where all of it will be; each GPU's own part is there before
   * @param floats of each GPU
   */
  public record Gathered(long address, long floats) {}

  /** Ends what GPUs wait for, with anything in their memory. They can not exchange any more. */
  public void abort() {
    end(member -> ncclCommAbort(member));
  }

  @Override
  public void close() {
    end(member -> ncclCommDestroy(member));
  }

  private void end(Consumer<ncclComm> way) {
    boolean isLocked = lockForEnd();
    try {
      if (!isEnded) {
        isEnded = true;
        members.forEach(way);
      }
    } finally {
      if (isLocked) {
        use.writeLock().unlock();
      }
    }
  }

  /**
   * A call returns at once, but for the first one of a GPU: it waits for the others' first ones.
   * Where these never come, ending is the only way out for it.
   */
  private boolean lockForEnd() {
    try {
      return use.writeLock().tryLock(CALL_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Calls the library, unless all has ended. */
  void call(String name, IntSupplier function) {
    use.readLock().lock();
    try {
      if (isEnded) {
        throw new CudaException(CudaException.Kind.LOST, name + ": another GPU has failed");
      }
      check(function.getAsInt(), name);
    } finally {
      use.readLock().unlock();
    }
  }

  private static void check(int result, String call) {
    if (result != 0) {
      String reason = ncclGetErrorString(result).getString();
      throw new CudaException(
          CudaException.Kind.LOST, "%s: %s (%d)".formatted(call, reason, result));
    }
  }
}
