package firstlight.bench;

import firstlight.protocol.Time;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** How fast threads can read memory, with nothing else to do. */
final class ReadBandwidth {
  /** More than any cache holds. */
  static final long BEYOND_CACHES = 512L << 20;

  private static final VectorSpecies<Long> LONGS = LongVector.SPECIES_PREFERRED;
  private static final int STREAMS = 4;
  private static final int STRIDE = STREAMS * LONGS.length();
  private static final int PASSES = 8;

  /** So much in a pass at least, so that starting the threads does not count. */
  private static final long PASS_BYTES = 512L << 20;

  private ReadBandwidth() {}

  /**
   * The best of several passes, in GB/s.
   *
   * @param threads that read at once, each its own part
   * @param bytes of all parts together; what is less than a cache comes from there
   */
  static double measure(int threads, long bytes, Time time) {
    int longs = Math.max(STRIDE, (int) (bytes / Long.BYTES / threads / STRIDE) * STRIDE);
    int repeats = (int) Math.max(1, PASS_BYTES / threads / Long.BYTES / longs);
    List<Callable<Long>> readers =
        IntStream.range(0, threads)
            .<Callable<Long>>mapToObj(
                _ -> {
                  long[] part = new long[longs];
                  Arrays.setAll(part, at -> at);
                  return () -> sum(part, repeats);
                })
            .toList();
    double read = (double) threads * repeats * longs * Long.BYTES;
    double best = 0;
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      for (int pass = 0; pass < PASSES; pass++) {
        long start = time.nanos();
        List<Long> sums = results(pool, readers);
        best = Math.max(best, read / (time.nanos() - start));
        long right = repeats * ((long) longs * (longs - 1) / 2);
        if (!sums.equals(Collections.nCopies(threads, right))) {
          throw new IllegalStateException("the sum of what was read is wrong");
        }
      }
    }
    return best;
  }

  private static List<Long> results(ExecutorService pool, List<Callable<Long>> readers) {
    try {
      return pool.invokeAll(readers).stream().map(Future::resultNow).toList();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchFailure("interrupted", e);
    }
  }

  private static long sum(long[] part, int repeats) {
    long sum = 0;
    for (int i = 0; i < repeats; i++) {
      sum += sum(part);
    }
    return sum;
  }

  /** Four sums, so that no addition waits for the one before it. */
  private static long sum(long[] part) {
    int lanes = LONGS.length();
    LongVector a = LongVector.zero(LONGS);
    LongVector b = a;
    LongVector c = a;
    LongVector d = a;
    for (int i = 0; i < part.length; i += STRIDE) {
      a = a.add(LongVector.fromArray(LONGS, part, i));
      b = b.add(LongVector.fromArray(LONGS, part, i + lanes));
      c = c.add(LongVector.fromArray(LONGS, part, i + 2 * lanes));
      d = d.add(LongVector.fromArray(LONGS, part, i + 3 * lanes));
    }
    return a.add(b).add(c.add(d)).reduceLanes(VectorOperators.ADD);
  }
}
