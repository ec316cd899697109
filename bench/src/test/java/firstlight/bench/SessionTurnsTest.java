package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.junit.jupiter.api.Test;

class SessionTurnsTest {
  private final SessionTurns turns = new SessionTurns(10, 4, 1_500);

  @Test
  void the_newest_turn_builds_on_all_others_of_its_session() {
    assertThat(turns.turn(7, 3).response()).isEqualTo(turns.newest(7));
    for (int number = 3; number > 0; number--) {
      assertThat(Objects.requireNonNull(turns.turn(7, number).parent()))
          .isEqualTo(turns.turn(7, number - 1).response());
    }
    assertThat(turns.turn(7, 0).parent()).isNull();
  }

  @Test
  void a_turn_is_as_large_as_wanted() {
    var turn = turns.turn(0, 0);
    assertThat(turn.input().length() + turn.output().length() + turn.resource().length())
        .isEqualTo(1_500);
  }
}
