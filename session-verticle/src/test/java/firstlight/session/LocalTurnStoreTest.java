package firstlight.session;

import static firstlight.session.Samples.PLENTY;
import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.SimulatedTime;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LocalTurnStoreTest extends TurnStoreContract {
  private static final Duration TTL = Duration.ofMinutes(5);

  private final SimulatedTime time = new SimulatedTime();
  private final LocalTurnStore store = store(1_000, 16 << 20);

  @Override
  TurnStore store() {
    return store;
  }

  @Test
  void a_turn_is_gone_after_its_time_however_often_it_was_read() {
    result(store.keep(List.of(turn("t", "r1", null))));
    time.advance(TTL.minusSeconds(1));
    assertThat(result(store.chain(key("t", "r1"), PLENTY))).hasSize(1);
    time.advance(Duration.ofSeconds(1));
    assertThat(result(store.chain(key("t", "r1"), PLENTY))).isEmpty();
  }

  @Test
  void a_forgotten_turn_cannot_be_put_back_by_a_look_up_that_read_it_before() {
    result(store.keep(List.of(turn("t", "r1", null))));
    result(store.forget(key("t", "r1")));
    time.advance(TurnStore.FORGOTTEN_FOR.minusSeconds(1));
    assertThat(result(store.keep(List.of(turn("t", "r1", null))))).isZero();
    assertThat(result(store.chain(key("t", "r1"), PLENTY))).isEmpty();
    time.advance(Duration.ofSeconds(1));
    assertThat(result(store.keep(List.of(turn("t", "r1", null))))).isEqualTo(1);
  }

  @Test
  void it_holds_no_more_turns_than_allowed() {
    LocalTurnStore small = store(50, 16 << 20);
    result(small.keep(Samples.conversation("t", 500)));
    assertThat(small.size()).isBetween(40L, 50L);
  }

  @Test
  void it_holds_no_more_bytes_than_allowed() {
    LocalTurnStore small = store(1_000, 1 << 20);
    for (int i = 0; i < 100; i++) {
      result(small.keep(List.of(turn("t", "r" + i, null, "x".repeat(50_000)))));
    }
    assertThat(small.size()).isBetween(5L, 10L);
  }

  @Test
  void a_turn_larger_than_the_cache_is_not_kept() {
    LocalTurnStore small = store(10, 1 << 16);
    result(small.keep(List.of(turn("t", "r1", null, "x".repeat(1 << 20)))));
    assertThat(small.size()).isZero();
  }

  private LocalTurnStore store(int entries, long bytes) {
    return new LocalTurnStore(new SessionConfig.Cache(true, entries, bytes, TTL, 1, TTL), time);
  }
}
