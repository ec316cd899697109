package firstlight.session;

import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.StoredTurn;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class LineageTest {
  private final List<StoredTurn> turns = Samples.conversation("t", 4);

  @Test
  void it_is_put_together_from_pieces_and_read_oldest_first() {
    Lineage lineage = new Lineage(key("t", "r4"), Samples.PLENTY);
    assertThat(lineage.missing()).isEqualTo(key("t", "r4"));
    lineage.add(List.of(turns.get(3), turns.get(2)));
    assertThat(lineage.missing()).isEqualTo(key("t", "r2"));
    lineage.add(List.of());
    assertThat(lineage.complete()).isFalse();
    lineage.add(List.of(turns.get(1), turns.get(0)));
    assertThat(lineage.complete()).isTrue();
    assertThat(lineage.history().turns()).isEqualTo(turns);
  }

  @Test
  void a_turn_missing_anywhere_gives_the_same_answer() {
    Lineage empty = new Lineage(key("t", "r4"), Samples.PLENTY);
    Lineage broken = new Lineage(key("t", "r4"), Samples.PLENTY);
    broken.add(List.of(turns.get(3)));
    MeshException first = failure(empty);
    MeshException second = failure(broken);
    assertThat(first.kind()).isEqualTo(FailureKind.NOT_FOUND);
    assertThat(first.code()).isEqualTo("previous_response_not_found");
    assertThat(first.param()).isEqualTo("previous_response_id");
    assertThat(first.getMessage()).isEqualTo(second.getMessage()).contains("'r4'");
  }

  @Test
  void as_many_turns_as_allowed_are_no_mistake() {
    Lineage lineage = new Lineage(key("t", "r4"), new Allowance(4, 1_000));
    lineage.add(turns.reversed());
    assertThat(lineage.history().turns()).hasSize(4);
  }

  @Test
  void one_turn_too_many_is_refused() {
    Lineage lineage = new Lineage(key("t", "r4"), new Allowance(3, 1_000));
    lineage.add(List.of(turns.get(3), turns.get(2)));
    assertThat(lineage.left().turns()).isEqualTo(1);
    assertThatThrownBy(() -> lineage.add(List.of(turns.get(1))))
        .satisfies(tooLong("more than 3 turns"));
  }

  @Test
  void one_character_too_many_is_refused() {
    int size = Allowance.characters(turns.get(3));
    Lineage enough = new Lineage(key("t", "r4"), new Allowance(9, size));
    enough.add(List.of(turns.get(3)));
    assertThat(enough.left().characters()).isZero();
    Lineage lacking = new Lineage(key("t", "r4"), new Allowance(9, size - 1));
    assertThatThrownBy(() -> lacking.add(List.of(turns.get(3))))
        .satisfies(tooLong("more than %d characters".formatted(size - 1)));
  }

  @Test
  void a_turn_that_was_not_asked_for_is_never_taken() {
    Lineage lineage = new Lineage(key("t", "r4"), Samples.PLENTY);
    assertThatThrownBy(() -> lineage.add(List.of(turn("other", "r4", null))))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lineage.add(List.of(turns.get(2))))
        .isInstanceOf(IllegalStateException.class);
  }

  private static MeshException failure(Lineage lineage) {
    try {
      throw new AssertionError("it has a history: " + lineage.history());
    } catch (MeshException e) {
      return e;
    }
  }

  private static Consumer<Throwable> tooLong(String words) {
    return failure -> {
      MeshException refused = (MeshException) failure;
      assertThat(refused.kind()).isEqualTo(FailureKind.TOO_LARGE);
      assertThat(refused.code()).isEqualTo("history_too_long");
      assertThat(refused.getMessage()).contains(words);
    };
  }
}
