package firstlight.bench;

import firstlight.protocol.Time;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** How fast threads can read memory that is in no cache. */
final class ReadBandwidth {
  private static final VectorSpecies<Long> LONGS = LongVector.SPECIES_PREFERRED;
  private static final int LONGS_EACH = 16 << 20;
  private static final int PASSES = 12;
  private static final int STREAMS = 4;

  private ReadBandwidth() {}

  /**
   * The best of several passes, in GB/s.
   *
   * @param threads that read at once, each an array of its own of 128 MiB
   */
  static double measure(int threads, Time time) {
    List<long[]> arrays = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      long[] array = new long[LONGS_EACH];
      java.util.Arrays.setAll(array, at -> at);
      arrays.add(array);
    }
    double best = 0;
    try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
      for (int pass = 0; pass < PASSES; pass++) {
        long start = time.nanos();
        long sum = 0;
        for (Future<Long> one :
            pool.invokeAll(
                arrays.stream()
                    .map(array -> (java.util.concurrent.Callable<Long>) () -> sum(array))
                    .toList())) {
          sum += one.get();
        }
        double nanos = time.nanos() - start;
        if (sum != threads * ((long) LONGS_EACH * (LONGS_EACH - 1) / 2)) {
          throw new IllegalStateException("the sum of what was read is wrong: " + sum);
        }
        best = Math.max(best, (double) threads * LONGS_EACH * Long.BYTES / nanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchFailure("interrupted", e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
    return best;
  }

  /** Four sums, so that no addition waits for the one before it. */
  private static long sum(long[] array) {
    int lanes = LONGS.length();
    LongVector a = LongVector.zero(LONGS);
    LongVector b = a;
    LongVector c = a;
    LongVector d = a;
    for (int i = 0; i < array.length; i += STREAMS * lanes) {
      a = a.add(LongVector.fromArray(LONGS, array, i));
      b = b.add(LongVector.fromArray(LONGS, array, i + lanes));
      c = c.add(LongVector.fromArray(LONGS, array, i + 2 * lanes));
      d = d.add(LongVector.fromArray(LONGS, array, i + 3 * lanes));
    }
    return a.add(b).add(c.add(d)).reduceLanes(VectorOperators.ADD);
  }
}
