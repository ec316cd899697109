package firstlight.session;

import static firstlight.session.Samples.turn;
import static firstlight.session.SessionMesh.refusal;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.Time;
import io.vertx.core.Future;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Case B73: what is left while a service is away, and that all is well afterwards. */
@ExtendWith(RealServices.Extension.class)
final class ServicesAwayTest {
  private static final Duration FAILS_WITHIN = Duration.ofSeconds(5);
  private static final Duration RECOVERS_WITHIN = Duration.ofSeconds(10);

  private final SessionMesh mesh = new SessionMesh();
  private final RealServices services;

  ServicesAwayTest(RealServices services) {
    this.services = services;
  }

  @AfterEach
  void close() {
    mesh.close();
  }

  @Test
  void redis_may_die_and_come_back_in_the_middle_and_nobody_notices() {
    mesh.addNode(services.config(), 1);
    mesh.addNode(services.config(), 1);
    List<StoredTurn> turns = Samples.conversation("redis-dies", 30);
    for (int i = 0; i < turns.size(); i++) {
      if (i == 10) {
        services.stopRedis();
      }
      if (i == 20) {
        services.startRedis();
      }
      result(mesh.store(turns.get(i)));
      assertThat(mesh.turns("redis-dies", "r" + (i + 1))).isEqualTo(turns.subList(0, i + 1));
    }
    assertThat(mesh.lookups("redis", "spared")).isPositive();
    Redis redis = Redis.createClient(mesh.vertx, services.config().redis().connection());
    StoredTurn probe = turn("redis-dies", "probe", null);
    result(mesh.store(probe));
    Wait.until(
        mesh.vertx,
        RECOVERS_WITHIN,
        () ->
            mesh.store(turn("redis-dies", "p" + Time.system().nanos(), null))
                .compose(_ -> redis.send(Request.cmd(Command.DBSIZE)))
                .map(size -> size.toInteger() > 0));
  }

  @Test
  void a_redis_that_hangs_delays_a_look_up_by_no_more_than_its_timeout() {
    List<StoredTurn> turns = Samples.conversation("redis-hangs", 3);
    mesh.addNode(services.config(), 1);
    turns.forEach(turn -> result(mesh.store(turn)));
    Redis redis = Redis.createClient(mesh.vertx, services.config().redis().connection());
    result(redis.send(Request.cmd(Command.CLIENT).arg("PAUSE").arg(60_000).arg("ALL")));
    try (SessionMesh cold = new SessionMesh()) {
      cold.addNode(services.config(), 1);
      long start = Time.system().nanos();
      List<Future<?>> answers = new ArrayList<>();
      IntStream.range(0, 50).forEach(i -> answers.add(cold.find("redis-hangs", "r3")));
      answers.forEach(Wait::result);
      assertThat(Duration.ofNanos(Time.system().nanos() - start)).isLessThan(FAILS_WITHIN);
      assertThat(refusal(cold.delete("redis-hangs", "r3")).kind())
          .isEqualTo(FailureKind.UNAVAILABLE);
      assertThat(cold.turns("redis-hangs", "r3")).isEqualTo(turns);
    } finally {
      services.stopRedis();
      services.startRedis();
    }
    Wait.until(
        mesh.vertx,
        RECOVERS_WITHIN,
        () -> mesh.delete("redis-hangs", "r3").map(true).otherwise(false));
  }

  @Test
  void without_postgresql_cached_conversations_go_on_and_the_rest_gets_a_clear_answer() {
    mesh.addNode(services.config(), 1);
    List<StoredTurn> turns = Samples.conversation("postgres-dies", 5);
    turns.forEach(turn -> result(mesh.store(turn)));
    services.stopPostgres();
    try {
      assertThat(mesh.turns("postgres-dies", "r5")).isEqualTo(turns);
      assertUnavailable(() -> mesh.find("postgres-dies", "r6"));
      assertUnavailable(() -> mesh.store(turn("postgres-dies", "r6", "r5")));
      assertUnavailable(() -> mesh.delete("postgres-dies", "r5"));
    } finally {
      services.startPostgres();
    }
    StoredTurn next = turn("postgres-dies", "r6", "r5");
    Wait.until(mesh.vertx, RECOVERS_WITHIN, () -> mesh.store(next).map(true).otherwise(false));
    services.stopRedis();
    services.startRedis();
    try (SessionMesh cold = new SessionMesh()) {
      cold.addNode(services.config(), 1);
      turns.add(next);
      assertThat(cold.turns("postgres-dies", "r6")).isEqualTo(turns);
    }
  }

  @Test
  void a_node_that_starts_before_postgresql_works_once_it_is_there() {
    SessionConfig.Postgres fresh = services.freshDatabase("late_start");
    services.stopPostgres();
    try {
      mesh.addNode(services.config().with(fresh), 2);
      assertUnavailable(() -> mesh.find("late", "r1"));
    } finally {
      services.startPostgres();
    }
    StoredTurn turn = turn("late", "r1", null);
    Wait.until(mesh.vertx, RECOVERS_WITHIN, () -> mesh.store(turn).map(true).otherwise(false));
    assertThat(mesh.turns("late", "r1")).containsExactly(turn);
  }

  private static void assertUnavailable(java.util.function.Supplier<Future<?>> question) {
    long start = Time.system().nanos();
    MeshException away = refusal(question.get());
    assertThat(Duration.ofNanos(Time.system().nanos() - start)).isLessThan(FAILS_WITHIN);
    assertThat(away.kind()).isEqualTo(FailureKind.UNAVAILABLE);
    assertThat(away.code()).isEqualTo("session_store_unavailable");
  }
}
