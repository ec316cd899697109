package firstlight.gpu;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Devices on one GPU. They open one after the other, so that each sees what the others have taken,
 * and each leaves those that are not open room for all they need: their weights, and keys and
 * values in the same number of bytes as its own.
 */
final class GpuNeighbours {
  private final List<Neighbour> all = new CopyOnWriteArrayList<>();
  private final Object opening = new Object();

  /**
   * Another device that will be opened.
   *
   * @param bytes that it needs beside keys and values
   */
  KvShare add(long bytes) {
    Neighbour neighbour = new Neighbour(bytes);
    all.add(neighbour);
    return neighbour;
  }

  <T> T oneAtATime(Callable<T> open) throws Exception {
    synchronized (opening) {
      return open.call();
    }
  }

  private final class Neighbour implements KvShare {
    private final long bytes;
    private volatile boolean open;

    Neighbour(long bytes) {
      this.bytes = bytes;
    }

    /**
     * With s the share of all of n devices and m of them not open, n - s (n - m) parts of n are
     * left, and s parts of them are for this one.
     */
    @Override
    public long of(long free) {
      List<Neighbour> others = all.stream().filter(other -> other != this).toList();
      List<Neighbour> missing = others.stream().filter(other -> !other.open).toList();
      long left = free - missing.stream().mapToLong(other -> other.bytes).sum();
      int there = others.size() - missing.size();
      return (long) (left * CudaConfig.KV_SHARE / (all.size() - CudaConfig.KV_SHARE * there));
    }

    @Override
    public void taken() {
      open = true;
    }

    @Override
    public void left() {
      open = false;
    }
  }
}
