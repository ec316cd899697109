package firstlight.session;

import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import firstlight.protocol.SimulatedTime;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class UnknownTurnsTest {
  private final SimulatedTime time = new SimulatedTime();
  private final UnknownTurns unknown = unknown("{unknownEntries: 100, unknownTtl: 2s}");

  @Test
  void an_entry_lasts_for_its_time_however_often_it_is_read() {
    add("t", "r1");
    time.advance(Duration.ofMillis(1_999));
    assertThat(unknown.holds(key("t", "r1"))).isTrue();
    time.advance(Duration.ofMillis(1));
    assertThat(unknown.holds(key("t", "r1"))).isFalse();
  }

  @Test
  void an_entry_is_one_tenants() {
    add("t", "r1");
    assertThat(unknown.holds(key("other", "r1"))).isFalse();
    unknown.arrived(List.of(turn("other", "r1", null)));
    assertThat(unknown.holds(key("t", "r1"))).isTrue();
  }

  @Test
  void it_goes_when_the_turn_arrives() {
    add("t", "r1");
    unknown.arrived(List.of(turn("t", "r1", null)));
    assertThat(unknown.holds(key("t", "r1"))).isFalse();
  }

  @Test
  void an_answer_that_is_older_than_the_turn_adds_none() {
    int ticket = unknown.ticket(key("t", "r1"));
    unknown.arrived(List.of(turn("t", "r1", null)));
    unknown.add(key("t", "r1"), ticket);
    assertThat(unknown.holds(key("t", "r1"))).isFalse();
    add("t", "r1");
    assertThat(unknown.holds(key("t", "r1"))).isTrue();
  }

  @Test
  void there_are_no_more_entries_than_allowed() {
    for (int i = 0; i < 5_000; i++) {
      add("t", "r" + i);
    }
    assertThat(unknown.size()).isBetween(50L, 100L);
  }

  @Test
  void without_a_cache_there_are_none() {
    UnknownTurns none = unknown("{enabled: false}");
    none.add(key("t", "r1"), none.ticket(key("t", "r1")));
    assertThat(none.holds(key("t", "r1"))).isFalse();
  }

  private void add(String tenant, String response) {
    unknown.add(key(tenant, response), unknown.ticket(key(tenant, response)));
  }

  private UnknownTurns unknown(String yaml) {
    Settings settings = Settings.parse("cache: " + yaml, _ -> null);
    return new UnknownTurns(SessionConfig.from(settings).cache(), time);
  }
}
