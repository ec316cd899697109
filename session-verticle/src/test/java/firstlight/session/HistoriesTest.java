package firstlight.session;

import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static firstlight.session.Wait.failure;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.History;
import firstlight.protocol.MeshException;
import firstlight.protocol.Settings;
import firstlight.protocol.SimulatedTime;
import firstlight.protocol.StoredTurn;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import org.junit.jupiter.api.Test;

final class HistoriesTest {
  private static final MeshException AWAY =
      new MeshException(FailureKind.UNAVAILABLE, "session_store_unavailable", "away");

  private final List<StoredTurn> turns = Samples.conversation("t", 4);
  private final FakeTurnStore local = new FakeTurnStore();
  private final FakeTurnStore region = new FakeTurnStore();
  private final FakeTurnStore durable = FakeTurnStore.of(turns);
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Histories histories =
      new Histories(
          List.of(new Histories.Tier("local", local), new Histories.Tier("region", region)),
          new Histories.Tier("durable", durable),
          new UnknownTurns(SessionConfig.from(Settings.empty()).cache(), new SimulatedTime()),
          new SingleFlight<>(),
          new Allowance(4, 10_000),
          new SessionMeters(registry, new SimulatedTime()));

  @Test
  void what_the_durable_tier_has_fills_the_caches_on_the_way_back() {
    assertThat(result(histories.find(key("t", "r4"))).turns()).isEqualTo(turns);
    assertThat(local.turns.values()).containsExactlyElementsOf(turns.reversed());
    assertThat(region.turns.values()).containsExactlyElementsOf(turns.reversed());
    durable.calls.clear();
    region.calls.clear();
    assertThat(result(histories.find(key("t", "r4"))).turns()).isEqualTo(turns);
    assertThat(region.calls).isEmpty();
    assertThat(durable.calls).isEmpty();
  }

  @Test
  void each_tier_is_asked_only_for_what_those_before_it_do_not_have() {
    result(local.keep(List.of(turns.get(3))));
    result(region.keep(List.of(turns.get(2), turns.get(1))));
    local.calls.clear();
    region.calls.clear();
    assertThat(result(histories.find(key("t", "r4"))).turns()).isEqualTo(turns);
    assertThat(region.calls).containsExactly("chain r3", "keep [r1]");
    assertThat(durable.calls).containsExactly("chain r1");
    assertThat(local.calls).containsExactly("chain r4", "keep [r3, r2]", "keep [r1]");
  }

  @Test
  void look_ups_are_counted_by_tier_and_outcome() {
    result(local.keep(List.of(turns.get(3))));
    result(histories.find(key("t", "r4")));
    failure(histories.find(key("t", "nowhere")));
    failure(histories.find(key("t", "nowhere")));
    durable.failure = AWAY;
    failure(histories.find(key("t", "elsewhere")));
    assertThat(count("local", "part")).isEqualTo(1);
    assertThat(count("local", "miss")).isEqualTo(3);
    assertThat(count("region", "miss")).isEqualTo(4);
    assertThat(count("durable", "hit")).isEqualTo(1);
    assertThat(count("durable", "miss")).isEqualTo(1);
    assertThat(count("durable", "unknown")).isEqualTo(1);
    assertThat(count("durable", "error")).isEqualTo(1);
    assertThat(registry.get("firstlight_session_lookup").tag("tier", "durable").timer().count())
        .isEqualTo(3);
  }

  @Test
  void equal_look_ups_at_one_moment_ask_the_durable_tier_once() {
    durable.gate = Promise.promise();
    List<Future<History>> answers =
        List.of(histories.find(key("t", "r4")), histories.find(key("t", "r4")));
    durable.gate.complete();
    assertThat(answers).allSatisfy(answer -> assertThat(result(answer).turns()).hasSize(4));
    assertThat(durable.calls).containsExactly("chain r4");
  }

  @Test
  void a_conversation_in_the_cache_goes_on_while_the_durable_tier_is_away() {
    result(histories.find(key("t", "r4")));
    durable.failure = AWAY;
    assertThat(result(histories.find(key("t", "r4"))).turns()).isEqualTo(turns);
    assertThat(failure(histories.find(key("t", "r5")))).isSameAs(AWAY);
  }

  @Test
  void a_turn_is_in_the_caches_only_once_it_is_durable() {
    StoredTurn turn = turn("t", "r5", "r4");
    durable.gate = Promise.promise();
    Future<Void> stored = histories.store(turn);
    assertThat(local.calls).isEmpty();
    assertThat(region.calls).isEmpty();
    assertThat(stored.isComplete()).isFalse();
    durable.gate.complete();
    result(stored);
    assertThat(local.turns.values()).containsExactly(turn);
    assertThat(region.turns.values()).containsExactly(turn);
  }

  @Test
  void a_turn_that_could_not_be_made_durable_is_nowhere() {
    durable.failure = AWAY;
    assertThat(failure(histories.store(turn("t", "r5", "r4")))).isSameAs(AWAY);
    assertThat(local.turns).isEmpty();
    assertThat(region.turns).isEmpty();
  }

  @Test
  void a_second_turn_under_a_taken_id_changes_nothing_anywhere() {
    result(histories.store(turn("t", "r4", "r3", "[\"other\"]")));
    assertThat(local.turns).isEmpty();
    assertThat(result(histories.find(key("t", "r4"))).turns()).isEqualTo(turns);
  }

  @Test
  void a_longer_history_than_allowed_is_refused_wherever_its_turns_lie() {
    result(durable.keep(List.of(turn("t", "r5", "r4"))));
    for (int round = 0; round < 3; round++) {
      MeshException refused = (MeshException) failure(histories.find(key("t", "r5")));
      assertThat(refused.code()).isEqualTo("history_too_long");
      result(local.keep(turns.subList(round, 4)));
    }
  }

  @Test
  void a_forgotten_turn_is_gone_from_every_tier_the_durable_one_last() {
    result(histories.find(key("t", "r4")));
    result(histories.forget(key("t", "r2")));
    assertThat(local.turns).doesNotContainKey(key("t", "r2")).hasSize(3);
    assertThat(region.turns).doesNotContainKey(key("t", "r2")).hasSize(3);
    assertThat(durable.turns).doesNotContainKey(key("t", "r2")).hasSize(3);
    MeshException broken = (MeshException) failure(histories.find(key("t", "r4")));
    assertThat(broken.code()).isEqualTo("previous_response_not_found");
    assertThat(result(histories.find(key("t", "r1"))).turns()).hasSize(1);
  }

  @Test
  void a_turn_stays_when_a_cache_cannot_forget_it() {
    region.failure = AWAY;
    assertThat(failure(histories.forget(key("t", "r2")))).isSameAs(AWAY);
    assertThat(durable.turns).containsKey(key("t", "r2"));
  }

  @Test
  void forgetting_what_is_not_there_is_told() {
    MeshException unknown = (MeshException) failure(histories.forget(key("other", "r2")));
    assertThat(unknown.kind()).isEqualTo(FailureKind.NOT_FOUND);
    assertThat(durable.turns).hasSize(4);
  }

  @Test
  void a_look_up_after_a_deletion_does_not_join_one_that_began_before() {
    durable.gate = Promise.promise();
    Future<History> before = histories.find(key("t", "r4"));
    Promise<Void> gate = durable.gate;
    durable.gate = null;
    result(histories.forget(key("t", "r4")));
    Future<History> after = histories.find(key("t", "r4"));
    gate.complete();
    assertThat(result(before).turns()).hasSize(4);
    assertThat(failure(after)).isInstanceOf(MeshException.class);
  }

  private double count(String tier, String outcome) {
    return registry
        .get("firstlight_session_lookups")
        .tags("tier", tier, "outcome", outcome)
        .counter()
        .count();
  }
}
