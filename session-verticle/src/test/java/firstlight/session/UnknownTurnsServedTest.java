package firstlight.session;

import static firstlight.session.Samples.turn;
import static firstlight.session.SessionMesh.refusal;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.History;
import firstlight.protocol.StoredTurn;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Look-ups of turns that do not exist, or not yet, with the real services. */
@ExtendWith(RealServices.Extension.class)
final class UnknownTurnsServedTest {
  private static final String LONG = "cache: {unknownTtl: 10s}";
  private static final String SHORT = "cache: {unknownTtl: 300ms}";
  private static final Duration SOON = Duration.ofSeconds(5);

  private final SessionMesh mesh = new SessionMesh();
  private final SessionMesh elsewhere = new SessionMesh();
  private final RealServices services;

  UnknownTurnsServedTest(RealServices services) {
    this.services = services;
  }

  @AfterEach
  void close() {
    mesh.close();
    elsewhere.close();
  }

  @Test
  void a_turn_that_is_unknown_is_asked_of_postgresql_once_by_all_instances_of_a_node() {
    mesh.addNode(services.config(true, LONG), 2);
    for (int i = 0; i < 20; i++) {
      assertUnknown(mesh.find("once", "r1"));
    }
    assertThat(mesh.lookups("postgres", "miss")).isEqualTo(1);
    assertThat(mesh.lookups("postgres", "unknown")).isEqualTo(19);
  }

  @Test
  void it_is_asked_again_after_its_time() {
    mesh.addNode(services.config(true, SHORT), 1);
    assertUnknown(mesh.find("later", "r1"));
    Wait.until(
        mesh.vertx,
        SOON,
        () ->
            mesh.find("later", "r1")
                .otherwiseEmpty()
                .map(_ -> mesh.lookups("postgres", "miss") >= 2));
  }

  /** Larger than the local cache, so that nothing but PostgreSQL can answer. */
  @Test
  void what_this_node_stores_is_found_at_once_although_it_was_unknown() {
    mesh.addNode(services.config(false, "cache: {bytes: 64KiB, unknownTtl: 10s}"), 2);
    for (int i = 0; i < 10; i++) {
      String id = "r" + i;
      StoredTurn turn = turn("here", id, null, "[\"" + "x".repeat(100_000) + "\"]");
      assertUnknown(mesh.find("here", id));
      result(mesh.store(turn));
      assertThat(mesh.turns("here", id)).containsExactly(turn);
    }
    assertThat(mesh.lookups("postgres", "hit")).isEqualTo(10);
  }

  @Test
  void what_another_node_stores_is_found_by_way_of_redis() {
    mesh.addNode(services.config(true, LONG), 1);
    elsewhere.addNode(services.config(true, LONG), 1);
    StoredTurn turn = turn("region", "r1", null);
    assertUnknown(mesh.find("region", "r1"));
    result(elsewhere.store(turn));
    Wait.until(mesh.vertx, SOON, () -> mesh.find("region", "r1").map(true).otherwise(false));
    assertThat(mesh.lookups("redis", "hit")).isEqualTo(1);
    assertThat(mesh.lookups("postgres", "miss")).isEqualTo(1);
  }

  @Test
  void without_redis_what_another_node_stores_is_found_after_the_time() {
    mesh.addNode(services.config(false, SHORT), 1);
    elsewhere.addNode(services.config(false, SHORT), 1);
    assertUnknown(mesh.find("apart", "r1"));
    result(elsewhere.store(turn("apart", "r1", null)));
    Wait.until(mesh.vertx, SOON, () -> mesh.find("apart", "r1").map(true).otherwise(false));
  }

  @Test
  void a_tenants_turn_is_found_while_the_same_id_of_another_is_unknown() {
    mesh.addNode(services.config(false, LONG), 1);
    elsewhere.addNode(services.config(false, LONG), 1);
    assertUnknown(mesh.find("without", "r1"));
    result(elsewhere.store(turn("with", "r1", null)));
    assertThat(mesh.turns("with", "r1")).hasSize(1);
    assertUnknown(mesh.find("without", "r1"));
  }

  @Test
  void many_ids_that_do_not_exist_push_out_no_turn() {
    mesh.addNode(services.config(false, "cache: {entries: 100, unknownEntries: 50}"), 1);
    List<StoredTurn> turns = Samples.conversation("flooded", 50);
    turns.forEach(turn -> result(mesh.store(turn)));
    List<Future<History>> flood =
        IntStream.range(0, 1_000).mapToObj(i -> mesh.find("flooded", "none" + i)).toList();
    flood.forEach(UnknownTurnsServedTest::assertUnknown);
    assertThat(mesh.turns("flooded", "r50")).isEqualTo(turns);
    assertThat(mesh.lookups("postgres", "hit")).isZero();
    assertThat(mesh.registry.get("firstlight_session_unknown_entries").gauge().value())
        .isBetween(1.0, 50.0);
  }

  @Test
  void a_deleted_turn_stays_away_although_its_unknown_entry_would_yield_to_it() {
    mesh.addNode(services.config(true, SHORT), 1);
    elsewhere.addNode(services.config(true, SHORT), 1);
    StoredTurn turn = turn("gone", "r1", null);
    result(mesh.store(turn));
    assertThat(elsewhere.turns("gone", "r1")).hasSize(1);
    result(mesh.delete("gone", "r1"));
    assertUnknown(mesh.find("gone", "r1"));
    RedisTurnStore late = new RedisTurnStore(mesh.vertx, services.config().redis());
    assertThat(result(late.keep(List.of(turn)))).isZero();
    assertUnknown(mesh.find("gone", "r1"));
  }

  private static void assertUnknown(Future<History> answer) {
    assertThat(refusal(answer).kind()).isEqualTo(FailureKind.NOT_FOUND);
  }
}
