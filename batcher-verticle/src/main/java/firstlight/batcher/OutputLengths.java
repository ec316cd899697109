package firstlight.batcher;

import firstlight.protocol.TenantId;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How long answers turn out to be, so that no more memory is set aside than they need: of each
 * tenant that was seen lately, and of all together for those that are new.
 */
final class OutputLengths {
  /** Before this many answers there is nothing to learn from. */
  private static final int ENOUGH = 8;

  private static final int TENANT_SAMPLES = 64;
  private static final int ALL_SAMPLES = 256;

  /** What an answer may be taken for as long as nothing is known. */
  private static final int FIRST_GUESS = 256;

  private final double quantile;
  private final int floor;
  private final Map<TenantId, Samples> tenants;
  private final Samples all;

  /**
   * @param quantile the share of answers that are no longer than expected
   * @param floor no answer is expected to be shorter, unless it must be
   * @param tenantsMax tenants remembered
   */
  OutputLengths(double quantile, int floor, int tenantsMax) {
    this.quantile = quantile;
    this.floor = floor;
    this.all = new Samples(ALL_SAMPLES);
    this.tenants =
        new LinkedHashMap<>(16, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(Map.Entry<TenantId, Samples> eldest) {
            return size() > tenantsMax;
          }
        };
  }

  /** An answer ended by itself, or at the most it was allowed. */
  void ended(TenantId tenant, int output) {
    all.add(output);
    tenants.computeIfAbsent(tenant, _ -> new Samples(TENANT_SAMPLES)).add(output);
  }

  /** Output tokens for which there should be room: nine of ten answers need no more. */
  int expected(TenantId tenant, int outputMax) {
    Samples samples = samples(tenant);
    int guess = samples.count < ENOUGH ? FIRST_GUESS : samples.high;
    return Math.min(outputMax, Math.max(floor, guess));
  }

  /** What answers have on average. */
  int mean(TenantId tenant, int outputMax) {
    Samples samples = samples(tenant);
    return Math.min(outputMax, samples.count < ENOUGH ? FIRST_GUESS : samples.mean);
  }

  private Samples samples(TenantId tenant) {
    Samples own = tenants.get(tenant);
    return own == null || own.count < ENOUGH ? all : own;
  }

  private final class Samples {
    private final int[] ring;
    private int count;
    private int high;
    private int mean;

    Samples(int size) {
      ring = new int[size];
    }

    void add(int output) {
      ring[count++ % ring.length] = output;
      // The sum must not overflow, and the count never reach its end.
      count = count == 2 * ring.length ? ring.length : count;
      int[] sorted = Arrays.copyOf(ring, Math.min(count, ring.length));
      Arrays.sort(sorted);
      high = sorted[(int) Math.min(sorted.length - 1L, (long) (quantile * sorted.length))];
      mean = (int) Math.max(1, Arrays.stream(sorted).asLongStream().sum() / sorted.length);
    }
  }
}
