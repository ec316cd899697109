package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.TenantId;
import org.junit.jupiter.api.Test;

class PrefixIndexTest {
  private static final TenantId A = new TenantId("a");
  private static final TenantId B = new TenantId("b");
  private static final int[] TOKENS = {1, 2, 3, 4, 5, 6};

  private final PrefixIndex index = new PrefixIndex(16, 2, 99, BlockHash::mixed);

  /** Makes Blocks 10, 11, 12 known for the tokens. */
  private static void learn(PrefixIndex index, TenantId tenant) {
    index.register(tenant, PrefixIndex.ROOT, TOKENS, 0, 10);
    index.register(tenant, 10, TOKENS, 2, 11);
    index.register(tenant, 11, TOKENS, 4, 12);
  }

  @Test
  void the_longest_known_beginning_is_found() {
    learn(index, A);
    assertThat(index.match(A, TOKENS, 3)).containsExactly(10, 11, 12);
    assertThat(index.match(A, TOKENS, 2)).containsExactly(10, 11);
    assertThat(index.match(A, new int[] {1, 2, 3, 9, 5, 6}, 3)).containsExactly(10);
    assertThat(index.match(A, new int[] {9, 2, 3, 4}, 2)).isEmpty();
  }

  @Test
  void the_same_tokens_after_another_beginning_are_another_block() {
    learn(index, A);
    int[] other = {7, 7, 3, 4};
    assertThat(index.register(A, PrefixIndex.ROOT, other, 0, 1)).isEqualTo(1);
    assertThat(index.register(A, 1, other, 2, 2)).isEqualTo(2);
    assertThat(index.match(A, new int[] {3, 4}, 1)).isEmpty();
  }

  @Test
  void a_block_computed_twice_is_known_as_the_first() {
    learn(index, A);
    assertThat(index.register(A, 10, TOKENS, 2, 5)).isEqualTo(11);
    assertThat(index.knows(5)).isFalse();
  }

  @Test
  void tenants_do_not_find_each_others_blocks() {
    learn(index, A);
    assertThat(index.match(B, TOKENS, 3)).isEmpty();
  }

  @Test
  void equal_hashes_of_different_blocks_do_no_harm() {
    PrefixIndex colliding = new PrefixIndex(16, 2, 99, (_, _, _, _) -> 7);
    learn(colliding, A);
    assertThat(colliding.match(A, TOKENS, 3)).containsExactly(10, 11, 12);
    assertThat(colliding.match(B, TOKENS, 3)).isEmpty();
    assertThat(colliding.match(A, new int[] {3, 4, 1, 2}, 2)).isEmpty();
    colliding.forget(12);
    assertThat(colliding.match(A, TOKENS, 3)).containsExactly(10, 11);
  }

  @Test
  void a_forgotten_block_is_not_found_and_a_gap_in_a_chain_is_noticed() {
    learn(index, A);
    index.forget(12);
    assertThat(index.match(A, TOKENS, 3)).containsExactly(10, 11);
    index.checkInvariants();
    index.forget(10);
    assertThatThrownBy(index::checkInvariants).hasMessageContaining("builds on one");
  }
}
