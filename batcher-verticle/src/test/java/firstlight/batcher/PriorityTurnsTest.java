package firstlight.batcher;

import static firstlight.protocol.Priority.HIGH;
import static firstlight.protocol.Priority.LOW;
import static firstlight.protocol.Priority.NORMAL;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Priority;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class PriorityTurnsTest {
  private final PriorityTurns turns = new PriorityTurns();

  private Map<Priority, Integer> serve(Set<Priority> asking, int chunk, int chunks) {
    Map<Priority, Integer> got = new EnumMap<>(Priority.class);
    for (int i = 0; i < chunks; i++) {
      Priority next = turns.next(asking);
      turns.served(next, chunk, asking);
      got.merge(next, chunk, Integer::sum);
    }
    return got;
  }

  @Test
  void the_highest_goes_first() {
    assertThat(serve(EnumSet.of(LOW, NORMAL, HIGH), 32, 10)).containsOnlyKeys(HIGH);
  }

  @Test
  void a_lower_one_that_asks_gets_a_tenth_and_no_more() {
    Map<Priority, Integer> got = serve(EnumSet.of(LOW, HIGH), 32, 10_000);
    assertThat(got.get(LOW) / (double) got.get(HIGH)).isCloseTo(0.1, Offset.offset(0.01));
  }

  @Test
  void each_of_two_lower_ones_gets_its_tenth() {
    Map<Priority, Integer> got = serve(EnumSet.of(LOW, NORMAL, HIGH), 32, 10_000);
    assertThat(got.get(LOW)).isGreaterThan(20_000);
    assertThat(got.get(NORMAL)).isGreaterThan(20_000);
    assertThat(got.get(HIGH)).isGreaterThan(240_000);
  }

  @Test
  void large_chunks_are_made_up_for() {
    Map<Priority, Integer> got = serve(EnumSet.of(LOW, NORMAL), 500, 2_000);
    assertThat(got.get(LOW) / (double) got.get(NORMAL)).isCloseTo(0.1, Offset.offset(0.02));
  }

  @Test
  void nothing_is_owed_to_one_that_did_not_ask() {
    serve(EnumSet.of(HIGH), 32, 10_000);
    assertThat(serve(EnumSet.of(LOW, HIGH), 32, 19)).containsOnlyKeys(HIGH);
  }

  @Test
  void alone_each_gets_everything() {
    assertThat(serve(EnumSet.of(LOW), 32, 100)).containsEntry(LOW, 3200);
    assertThat(turns.next(EnumSet.of(LOW, HIGH))).isEqualTo(HIGH);
  }
}
