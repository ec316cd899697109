package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.SimulatedTime;
import firstlight.protocol.TenantId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BlockPoolTest {
  private static final TenantId TENANT = new TenantId("t");

  private final PrefixIndex index = new PrefixIndex(4, 1, 0, BlockHash::mixed);
  private final BlockPool pool =
      new BlockPool(4, index, new Retention(Duration.ofSeconds(1), 0.5), new SimulatedTime());

  private int known(int token) {
    int block = pool.take();
    index.register(TENANT, PrefixIndex.ROOT, new int[] {token}, 0, block);
    return block;
  }

  @Test
  void blocks_are_never_lost_whatever_the_order_of_taking_and_releasing() {
    long seed = Long.getLong("seed", 11);
    Random random = new Random(seed);
    List<Integer> held = new ArrayList<>();
    for (int round = 0; round < 5_000; round++) {
      if (pool.available() > 0 && random.nextBoolean()) {
        held.add(random.nextBoolean() ? pool.take() : known(round));
      } else if (!held.isEmpty()) {
        int block = held.get(random.nextInt(held.size()));
        if (random.nextInt(3) == 0) {
          pool.hold(block);
          held.add(block);
        } else {
          held.remove((Integer) block);
          pool.release(block);
        }
      }
      pool.checkInvariants();
      assertThat(pool.held()).as("-Dseed=%d", seed).isEqualTo(held.stream().distinct().count());
    }
  }

  @Test
  void a_block_is_free_only_when_the_last_holder_gives_it_back() {
    int block = pool.take();
    pool.hold(block);
    pool.release(block);
    assertThat(pool.held()).isEqualTo(1);
    pool.release(block);
    assertThat(pool.held()).isZero();
    assertThat(pool.cached()).isZero();
  }

  @Test
  void known_blocks_are_kept_and_the_one_unused_for_longest_is_evicted_first() {
    int first = known(1);
    int second = known(2);
    pool.release(second);
    pool.release(first);
    assertThat(pool.cached()).isEqualTo(2);
    pool.take();
    pool.take();
    assertThat(pool.take()).isEqualTo(second);
    assertThat(index.knows(second)).isFalse();
    assertThat(index.knows(first)).isTrue();
  }

  @Test
  void a_cached_block_that_is_held_again_is_not_evicted() {
    int block = known(1);
    pool.release(block);
    pool.hold(block);
    assertThat(List.of(pool.take(), pool.take(), pool.take())).doesNotContain(block);
    assertThatThrownBy(pool::take).hasMessage("no Block is available");
  }

  @Test
  void mistakes_of_the_caller_are_noticed() {
    int block = pool.take();
    pool.release(block);
    assertThatThrownBy(() -> pool.release(block)).hasMessageContaining("given back twice");
    assertThatThrownBy(() -> pool.hold(block)).hasMessageContaining("free Block");
    assertThatThrownBy(() -> pool.keep(block)).hasMessageContaining("held and known");
  }
}
