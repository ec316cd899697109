package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.SimulatedTime;
import firstlight.protocol.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CachedBlocksTest {
  private static final TenantId A = new TenantId("a");
  private static final TenantId B = new TenantId("b");
  private static final Duration KEPT_FOR = Duration.ofSeconds(10);

  private final SimulatedTime time = new SimulatedTime();
  private final CachedBlocks cached = new CachedBlocks(8, new Retention(KEPT_FOR, 0.375), time);

  private void keep(TenantId tenant, int... blocks) {
    for (int block : blocks) {
      cached.keep(block);
      cached.add(block, tenant);
    }
  }

  private List<Integer> evictAll() {
    List<Integer> order = new ArrayList<>();
    while (cached.size() > 0) {
      order.add(cached.evict());
      cached.checkInvariants();
    }
    return order;
  }

  @Test
  void what_is_kept_goes_after_all_others_and_the_oldest_of_it_first() {
    keep(A, 1, 2);
    cached.add(5, B);
    keep(B, 3);
    cached.add(4, A);
    assertThat(evictAll()).containsExactly(5, 4, 1, 2, 3);
  }

  @Test
  void when_its_time_is_over_it_is_as_old_as_it_is() {
    keep(A, 1);
    time.advance(Duration.ofSeconds(9));
    cached.add(2, A);
    keep(A, 3);
    time.advance(Duration.ofSeconds(1));
    assertThat(evictAll()).containsExactly(1, 2, 3);
  }

  @Test
  void a_use_begins_its_time_anew() {
    keep(A, 1);
    time.advance(Duration.ofSeconds(9));
    assertThat(cached.remove(1)).isTrue();
    cached.add(1, A);
    cached.add(2, A);
    time.advance(Duration.ofSeconds(9));
    assertThat(evictAll()).containsExactly(2, 1);
  }

  @Test
  void a_tenant_with_more_than_its_share_loses_its_own_oldest() {
    keep(B, 7);
    keep(A, 1, 2, 3, 4);
    assertThat(cached.keptFor(A)).isEqualTo(3);
    assertThat(cached.keptFor(B)).isEqualTo(1);
    cached.add(5, B);
    assertThat(evictAll()).containsExactly(1, 5, 7, 2, 3, 4);
  }

  @Test
  void a_block_that_was_given_up_is_worth_nothing_special() {
    keep(A, 1);
    assertThat(cached.evict()).isEqualTo(1);
    cached.add(1, B);
    assertThat(cached.keptFor(B)).isZero();
    assertThat(cached.remove(1)).isTrue();
    assertThat(cached.remove(1)).isFalse();
  }

  @Test
  void without_a_share_nothing_is_kept() {
    CachedBlocks none = new CachedBlocks(8, new Retention(KEPT_FOR, 0), time);
    none.keep(1);
    none.add(1, A);
    none.add(2, A);
    assertThat(none.keptFor(A)).isZero();
    assertThat(none.evict()).isEqualTo(1);
  }

  /** What one cached Block is in the naive model. */
  private record Cached(int block, TenantId tenant, boolean kept, long since) {}

  @Test
  void it_does_what_a_naive_model_does_whatever_the_order() {
    long seed = Long.getLong("seed", 3);
    Random random = new Random(seed);
    List<Cached> model = new ArrayList<>();
    boolean[] worth = new boolean[8];
    for (int round = 0; round < 20_000; round++) {
      int block = random.nextInt(8);
      boolean here = model.stream().anyMatch(each -> each.block == block);
      switch (random.nextInt(4)) {
        case 0 -> time.advance(Duration.ofMillis(random.nextInt(3_000)));
        case 1 -> {
          assertThat(cached.remove(block)).isEqualTo(here);
          model.removeIf(each -> each.block == block);
        }
        case 2 -> {
          if (!here) {
            worth[block] |= random.nextBoolean();
            TenantId tenant = random.nextInt(4) == 0 ? B : A;
            if (worth[block]) {
              cached.keep(block);
            }
            cached.add(block, tenant);
            model.add(new Cached(block, tenant, worth[block], time.nanos()));
            limit(model, tenant, worth);
          }
        }
        default -> {
          if (!model.isEmpty()) {
            Cached least = least(model, worth);
            assertThat(cached.evict()).as("-Dseed=%d", seed).isEqualTo(least.block);
            model.removeIf(each -> each.block == least.block);
            worth[least.block] = false;
          }
        }
      }
      cached.checkInvariants();
      assertThat(cached.size()).isEqualTo(model.size());
      assertThat(cached.contains(block)).isEqualTo(model.stream().anyMatch(c -> c.block == block));
    }
  }

  /** The model is in the order of return. */
  private static void limit(List<Cached> model, TenantId tenant, boolean[] worth) {
    List<Cached> own = model.stream().filter(c -> c.kept && c.tenant.equals(tenant)).toList();
    if (own.size() > 3) {
      unkeep(model, own.getFirst(), worth);
    }
  }

  private static void unkeep(List<Cached> model, Cached one, boolean[] worth) {
    model.set(model.indexOf(one), new Cached(one.block, one.tenant, false, one.since));
    worth[one.block] = false;
  }

  private Cached least(List<Cached> model, boolean[] worth) {
    for (Cached each : List.copyOf(model)) {
      if (each.kept && time.nanos() - each.since >= KEPT_FOR.toNanos()) {
        unkeep(model, each, worth);
      }
    }
    return model.stream().min(Comparator.comparing(Cached::kept)).orElseThrow();
  }
}
