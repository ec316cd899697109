package firstlight.session;

import static firstlight.session.Samples.PLENTY;
import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.StoredTurn;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What every tier promises. Each test has tenants of its own, since tiers keep what they have. */
abstract class TurnStoreContract {
  abstract TurnStore store();

  @Test
  void a_turn_comes_back_as_it_was_kept() {
    StoredTurn turn = turn("round", "r1", null, "[\"grün 🚀 \\u0000 ' $1 \\\\ \u2028\"]");
    assertThat(result(store().keep(List.of(turn)))).isEqualTo(1);
    assertThat(result(store().chain(key("round", "r1"), PLENTY))).containsExactly(turn);
  }

  @Test
  void a_chain_is_newest_first_and_ends_at_the_turn_without_parent() {
    List<StoredTurn> turns = Samples.conversation("chain", 5);
    assertThat(result(store().keep(turns))).isEqualTo(5);
    assertThat(result(store().chain(key("chain", "r5"), PLENTY))).isEqualTo(turns.reversed());
    assertThat(result(store().chain(key("chain", "r2"), PLENTY)))
        .containsExactly(turns.get(1), turns.get(0));
  }

  @Test
  void a_chain_ends_before_a_turn_that_is_not_known() {
    result(store().keep(List.of(turn("gap", "r2", "r1"), turn("gap", "r3", "r2"))));
    assertThat(result(store().chain(key("gap", "r3"), PLENTY)))
        .extracting(it -> it.response().value())
        .containsExactly("r3", "r2");
    assertThat(result(store().chain(key("gap", "r1"), PLENTY))).isEmpty();
  }

  @Test
  void a_chain_ends_with_the_turn_that_uses_the_allowance_up() {
    List<StoredTurn> turns = Samples.conversation("allowance", 6);
    result(store().keep(turns));
    int size = Allowance.characters(turns.getFirst());
    assertThat(result(store().chain(key("allowance", "r6"), new Allowance(4, 1 << 20)))).hasSize(4);
    assertThat(result(store().chain(key("allowance", "r6"), new Allowance(100, 3 * size))))
        .hasSize(4);
    assertThat(result(store().chain(key("allowance", "r6"), new Allowance(100, 3 * size - 1))))
        .hasSize(3);
    assertThat(result(store().chain(key("allowance", "r6"), new Allowance(0, 1 << 20)))).isEmpty();
    assertThat(result(store().chain(key("allowance", "r6"), new Allowance(9, -1)))).isEmpty();
  }

  @Test
  void a_circle_of_parents_is_read_only_as_far_as_allowed() {
    result(store().keep(List.of(turn("circle", "r1", "r2"), turn("circle", "r2", "r1"))));
    assertThat(result(store().chain(key("circle", "r1"), new Allowance(7, 1 << 20)))).hasSize(7);
  }

  @Test
  void two_turns_on_one_parent_are_two_branches() {
    List<StoredTurn> turns =
        List.of(turn("fork", "r1", null), turn("fork", "a", "r1"), turn("fork", "b", "r1"));
    result(store().keep(turns));
    assertThat(result(store().chain(key("fork", "a"), PLENTY)))
        .containsExactly(turns.get(1), turns.get(0));
    assertThat(result(store().chain(key("fork", "b"), PLENTY)))
        .containsExactly(turns.get(2), turns.get(0));
  }

  @Test
  void what_is_kept_first_stays() {
    StoredTurn first = turn("first", "r1", null, "[1]");
    assertThat(result(store().keep(List.of(first)))).isEqualTo(1);
    assertThat(result(store().keep(List.of(turn("first", "r1", null, "[2]"))))).isZero();
    assertThat(result(store().chain(key("first", "r1"), PLENTY))).containsExactly(first);
  }

  @Test
  void the_same_id_of_two_tenants_is_two_turns() {
    StoredTurn mine = turn("mine", "r1", null, "[\"mine\"]");
    StoredTurn theirs = turn("theirs", "r1", null, "[\"theirs\"]");
    result(store().keep(List.of(mine, theirs)));
    assertThat(result(store().chain(key("mine", "r1"), PLENTY))).containsExactly(mine);
    assertThat(result(store().chain(key("theirs", "r1"), PLENTY))).containsExactly(theirs);
    assertThat(result(store().chain(key("nobody", "r1"), PLENTY))).isEmpty();
    assertThat(result(store().forget(key("nobody", "r1")))).isFalse();
    assertThat(result(store().chain(key("mine", "r1"), PLENTY))).hasSize(1);
  }

  @Test
  void a_parent_of_another_tenant_is_not_known() {
    result(store().keep(List.of(turn("victim", "secret", null), turn("thief", "r1", "secret"))));
    assertThat(result(store().chain(key("thief", "r1"), PLENTY))).hasSize(1);
  }

  @Test
  void a_forgotten_turn_is_gone_and_its_children_stay() {
    List<StoredTurn> turns = Samples.conversation("forget", 3);
    result(store().keep(turns));
    assertThat(result(store().forget(key("forget", "r2")))).isTrue();
    assertThat(result(store().forget(key("forget", "r2")))).isFalse();
    assertThat(result(store().chain(key("forget", "r3"), PLENTY))).containsExactly(turns.get(2));
    assertThat(result(store().chain(key("forget", "r2"), PLENTY))).isEmpty();
    assertThat(result(store().chain(key("forget", "r1"), PLENTY))).containsExactly(turns.get(0));
  }

  @Test
  void a_turn_of_a_million_characters_comes_back() {
    StoredTurn turn = turn("large", "r1", null, "[\"" + "é".repeat(1_000_000) + "\"]");
    result(store().keep(List.of(turn)));
    assertThat(result(store().chain(key("large", "r1"), new Allowance(1, 16 << 20))))
        .containsExactly(turn);
  }

  @Test
  void a_chain_of_five_hundred_turns_comes_back_in_order() {
    List<StoredTurn> turns = Samples.conversation("deep", 500);
    result(store().keep(turns));
    assertThat(result(store().chain(key("deep", "r500"), new Allowance(500, 1 << 20))))
        .isEqualTo(turns.reversed());
  }

  @Test
  void keeping_nothing_is_no_mistake() {
    assertThat(result(store().keep(List.of()))).isZero();
  }
}
