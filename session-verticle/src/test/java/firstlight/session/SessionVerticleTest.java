package firstlight.session;

import static firstlight.session.Samples.turn;
import static firstlight.session.SessionMesh.refusal;
import static firstlight.session.Wait.failure;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.Time;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes of two instances each, with the real services. Each test has a tenant of its own. */
@ExtendWith(RealServices.Extension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SessionVerticleTest {
  /** Round robin has reached every instance. */
  private static final int EVERYBODY = 4;

  private final SessionMesh mesh = new SessionMesh();
  private final RealServices services;
  private final Redis redis;

  SessionVerticleTest(RealServices services) {
    this.services = services;
    mesh.addNode(services.config(), 2);
    mesh.addNode(services.config(), 2);
    redis = Redis.createClient(mesh.vertx, services.config().redis().connection());
  }

  @AfterAll
  void close() {
    mesh.close();
  }

  @Test
  void a_stored_turn_is_found_with_all_it_builds_on_whoever_answers() {
    List<StoredTurn> turns = Samples.conversation("found", 6);
    for (StoredTurn turn : turns) {
      assertThat(result(mesh.store(turn)).response()).isEqualTo(turn.response());
    }
    for (int i = 0; i < EVERYBODY; i++) {
      assertThat(mesh.turns("found", "r6")).isEqualTo(turns);
    }
    assertThat(mesh.turns("found", "r2")).isEqualTo(turns.subList(0, 2));
  }

  @Test
  void storing_a_turn_again_changes_nothing() {
    StoredTurn turn = turn("again", "r1", null);
    for (int i = 0; i < EVERYBODY; i++) {
      result(mesh.store(turn));
    }
    assertThat(mesh.turns("again", "r1")).containsExactly(turn);
  }

  @Test
  void another_tenants_turn_and_one_that_never_was_give_the_same_answer() {
    result(mesh.store(turn("owner", "r1", null)));
    for (int i = 0; i < EVERYBODY; i++) {
      MeshException theirs = refusal(mesh.find("stranger", "r1"));
      MeshException unknown = refusal(mesh.find("nobody", "r1"));
      assertThat(theirs.kind()).isEqualTo(FailureKind.NOT_FOUND).isEqualTo(unknown.kind());
      assertThat(theirs.code()).isEqualTo("previous_response_not_found").isEqualTo(unknown.code());
      assertThat(theirs.getMessage()).isEqualTo(unknown.getMessage());
      assertThat(refusal(mesh.delete("stranger", "r1")).kind()).isEqualTo(FailureKind.NOT_FOUND);
    }
    assertThat(mesh.turns("owner", "r1")).hasSize(1);
  }

  /** Case B70. */
  @Test
  void of_two_turns_at_once_both_survive_as_a_fork() {
    List<StoredTurn> trunk = new ArrayList<>(List.of(turn("fork", "a0", null)));
    result(mesh.store(trunk.getFirst()));
    for (int round = 1; round <= 20; round++) {
      StoredTurn left = turn("fork", "a" + round, "a" + (round - 1));
      StoredTurn right = turn("fork", "b" + round, "a" + (round - 1));
      List<Future<?>> both = List.of(mesh.store(left), mesh.store(right));
      if (round == 10) {
        result(redis.send(Request.cmd(Command.FLUSHALL)));
      }
      both.forEach(Wait::result);
      List<StoredTurn> branch = new ArrayList<>(trunk);
      branch.add(right);
      trunk.add(left);
      assertThat(mesh.turns("fork", "a" + round)).isEqualTo(trunk);
      assertThat(mesh.turns("fork", "b" + round)).isEqualTo(branch);
    }
    try (SessionMesh later = new SessionMesh()) {
      later.addNode(services.config(), 1);
      assertThat(later.turns("fork", "a20")).isEqualTo(trunk);
      assertThat(later.turns("fork", "b20").subList(0, 20)).isEqualTo(trunk.subList(0, 20));
    }
  }

  @Test
  void a_turn_stored_on_one_node_is_read_from_redis_on_the_next() {
    List<StoredTurn> turns = Samples.conversation("tiers", 3);
    turns.forEach(turn -> result(mesh.store(turn)));
    Wait.until(
        mesh.vertx,
        Duration.ofSeconds(5),
        () ->
            redis
                .send(Request.cmd(Command.EXISTS).arg("firstlight:turn:{tiers}r1"))
                .map(known -> known.toInteger() == 1));
    try (SessionMesh next = new SessionMesh()) {
      next.addNode(services.config(), 1);
      Wait.until(
          next.vertx,
          Duration.ofSeconds(5),
          () -> next.find("tiers", "r3").map(_ -> next.lookups("local", "hit") > 0));
      assertThat(next.lookups("postgres", "hit"))
          .isLessThanOrEqualTo(next.lookups("local", "miss"));
      assertThat(next.lookups("redis", "hit")).isEqualTo(1);
    }
  }

  @Test
  void a_deleted_turn_and_the_chain_through_it_are_gone_for_everybody() {
    Samples.conversation("deleted", 3).forEach(turn -> result(mesh.store(turn)));
    for (int i = 0; i < EVERYBODY; i++) {
      assertThat(mesh.turns("deleted", "r3")).hasSize(3);
    }
    assertThat(result(mesh.delete("deleted", "r2")).response()).isEqualTo(new ResponseId("r2"));
    for (int i = 0; i < EVERYBODY; i++) {
      assertThat(refusal(mesh.find("deleted", "r2")).code())
          .isEqualTo("previous_response_not_found");
      assertThat(refusal(mesh.find("deleted", "r3")).code())
          .isEqualTo("previous_response_not_found");
      assertThat(mesh.turns("deleted", "r1")).hasSize(1);
    }
    MeshException again = refusal(mesh.delete("deleted", "r2"));
    assertThat(again.kind()).isEqualTo(FailureKind.NOT_FOUND);
    assertThat(again.code()).isEqualTo("response_not_found");
  }

  @Test
  void a_history_that_is_too_long_is_refused_with_a_way_out() {
    SessionConfig given = services.config();
    try (SessionMesh strict = new SessionMesh()) {
      strict.addNode(
          new SessionConfig(
              given.postgres(),
              given.redis(),
              given.cache(),
              new SessionConfig.Limits(10, 100_000),
              given.attemptPause()),
          1);
      Samples.conversation("long", 11).forEach(turn -> result(strict.store(turn)));
      assertThat(strict.turns("long", "r10")).hasSize(10);
      MeshException refused = refusal(strict.find("long", "r11"));
      assertThat(refused.kind()).isEqualTo(FailureKind.TOO_LARGE);
      assertThat(refused.getMessage()).contains("more than 10 turns", "Start a new conversation");
    }
  }

  @Test
  void many_equal_look_ups_at_once_are_all_answered() {
    List<StoredTurn> turns = Samples.conversation("crowd", 3);
    turns.forEach(turn -> result(mesh.store(turn)));
    try (SessionMesh next = new SessionMesh()) {
      next.addNode(services.config(), 2);
      var answers = IntStream.range(0, 500).mapToObj(_ -> next.find("crowd", "r3")).toList();
      assertThat(answers).allSatisfy(answer -> assertThat(result(answer).turns()).isEqualTo(turns));
      assertThat(next.lookups("redis", "hit") + next.lookups("postgres", "hit"))
          .isLessThanOrEqualTo(20);
    }
  }

  @Test
  void equal_look_ups_at_all_instances_of_a_node_ask_postgresql_once() throws SQLException {
    StoredTurn turn = turn("flight", "r1", null);
    result(mesh.store(turn));
    try (SessionMesh next = new SessionMesh();
        Connection other = services.connection();
        Statement lock = other.createStatement()) {
      next.addNode(services.config(false, ""), EVERYBODY);
      result(next.store(turn("flight", "here", null)));
      other.setAutoCommit(false);
      lock.execute("LOCK TABLE " + Schema.TURNS);
      var answers = IntStream.range(0, 200).mapToObj(_ -> next.find("flight", "r1")).toList();
      for (int i = 0; i < EVERYBODY; i++) {
        // Whoever answers this has got its share of the others.
        next.turns("flight", "here");
      }
      other.rollback();
      assertThat(answers)
          .allSatisfy(answer -> assertThat(result(answer).turns()).containsExactly(turn));
      assertThat(next.lookups("postgres", "hit")).isEqualTo(1);
    }
  }

  @Test
  void it_works_without_either_cache() {
    SessionConfig given = services.config();
    try (SessionMesh bare = new SessionMesh()) {
      bare.addNode(
          new SessionConfig(
              given.postgres(),
              new SessionConfig.Redis(
                  false,
                  "",
                  "",
                  Duration.ofDays(1),
                  1,
                  1,
                  Duration.ofSeconds(1),
                  Duration.ofSeconds(9),
                  1),
              new SessionConfig.Cache(
                  false, 1, 1 << 16, Duration.ofSeconds(1), 1, Duration.ofSeconds(1)),
              given.limits(),
              given.attemptPause()),
          1);
      StoredTurn turn = turn("bare", "r1", null);
      result(bare.store(turn));
      assertThat(bare.turns("bare", "r1")).containsExactly(turn);
      assertThat(bare.lookups("postgres", "hit")).isEqualTo(1);
      result(bare.delete("bare", "r1"));
      assertThat(refusal(bare.find("bare", "r1")).kind()).isEqualTo(FailureKind.NOT_FOUND);
    }
  }

  @Test
  void a_configuration_that_an_operator_must_put_right_keeps_it_from_starting() {
    SessionConfig given = services.config();
    SessionConfig.Postgres it = given.postgres();
    SessionConfig wrong =
        given.with(
            new SessionConfig.Postgres(
                it.host(),
                it.port(),
                "nowhere",
                it.user(),
                "",
                1,
                1,
                it.timeout(),
                it.renewAfter(),
                it.lifetime(),
                true));
    assertThat(
            failure(
                mesh.vertx.deployVerticle(
                    new SessionVerticle(wrong, Time.system(), mesh.registry))))
        .hasMessageContaining("\"nowhere\" does not exist");
  }

  /** Case B85: such an id is no id, so none ever reaches a key or a statement. */
  @ParameterizedTest
  @ValueSource(
      strings = {"", "../x", "a/b", "a%00b", "'; drop table turns;--", "{{7*7}}", "*", "?", "a b"})
  void a_hostile_id_is_refused_before_anything_is_asked(String id) {
    assertThatThrownBy(() -> mesh.find("t", id)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> mesh.find(id, "r1")).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void requests_are_counted_by_operation_and_outcome() {
    result(mesh.store(turn("counted", "r1", null)));
    refusal(mesh.find("counted", "nowhere"));
    assertThat(requests("store", "ok")).isPositive();
    assertThat(requests("find", "not_found")).isPositive();
  }

  private long requests(String operation, String outcome) {
    return mesh.registry
        .get("firstlight_session_requests")
        .tags("operation", operation, "outcome", outcome)
        .timer()
        .count();
  }
}
