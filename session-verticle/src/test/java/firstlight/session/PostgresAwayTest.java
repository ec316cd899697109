package firstlight.session;

import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static firstlight.session.SessionMesh.refusal;
import static firstlight.session.Wait.failure;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.Settings;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Once PostgreSQL is known to be away nobody waits for it, and it is not flooded either. */
@ExtendWith(RealServices.Extension.class)
final class PostgresAwayTest {
  private static final int CROWD = 200;
  private static final int INSTANCES = 2;
  private static final Duration BACK_WITHIN = Duration.ofSeconds(5);

  private final SessionMesh mesh = new SessionMesh();
  private final RealServices services;
  private final FreezingProxy proxy;

  PostgresAwayTest(RealServices services) {
    this.services = services;
    this.proxy = new FreezingProxy(mesh.vertx, services.config().postgres().port());
  }

  @AfterEach
  void close() {
    mesh.close();
  }

  @Test
  void a_crowd_that_no_cache_can_serve_makes_no_attempts_while_it_refuses_connections() {
    mesh.addNode(config("timeout: 2s", "5s"), INSTANCES);
    List<StoredTurn> cached = Samples.conversation("refused", 3);
    cached.forEach(turn -> result(mesh.store(turn)));
    services.stopPostgres();
    try {
      refusal(mesh.find("refused", "first"));
      int before = proxy.accepted();
      assertCrowdIsRefused("refused", cached);
      // One look by an instance that has not had any; the next would come after the pause.
      assertThat(proxy.accepted() - before).isLessThanOrEqualTo(INSTANCES);
    } finally {
      services.startPostgres();
    }
  }

  @Test
  void nor_while_it_does_not_answer() {
    mesh.addNode(config("timeout: 500ms, renewAfter: 1s", "100ms"), INSTANCES);
    List<StoredTurn> cached = Samples.conversation("silent", 3);
    cached.forEach(turn -> result(mesh.store(turn)));
    proxy.freezeFromNowOn();
    refusal(mesh.find("silent", "first"));
    double tried = errors();
    assertCrowdIsRefused("silent", cached);
    // Only looks, and those one a pause, however many ask.
    assertThat(errors() - tried).isLessThan(CROWD / 4.0);
    proxy.thaw();
    StoredTurn next = turn("silent", "r4", "r3");
    Wait.until(
        mesh.vertx, BACK_WITHIN.multipliedBy(2), () -> mesh.store(next).map(true).otherwise(false));
    cached.add(next);
    assertThat(mesh.turns("silent", "r4")).isEqualTo(cached);
  }

  /** Nobody asks meanwhile, so it is found out without a client's request. */
  @Test
  void it_is_used_again_a_pause_after_it_is_back() {
    mesh.addNode(config("timeout: 2s", "1s"), INSTANCES);
    services.stopPostgres();
    try {
      refusal(mesh.find("back", "r1"));
      assertThat(away()).isEqualTo(1);
    } finally {
      services.startPostgres();
    }
    Wait.until(mesh.vertx, BACK_WITHIN, () -> Future.succeededFuture(away() == 0));
    result(mesh.store(turn("back", "r1", null)));
    assertThat(mesh.lookups("postgres", "spared")).isZero();
  }

  /** With a pause much longer than it takes to look at once. */
  @Test
  void one_lost_connection_stops_nobody_for_a_pause() throws Exception {
    mesh.addNode(config("timeout: 5s", "5s"), 1);
    try (Connection other = services.connection();
        Statement sql = other.createStatement()) {
      other.setAutoCommit(false);
      sql.execute("LOCK TABLE " + Schema.TURNS);
      Future<?> waiting = mesh.find("lost", "r1");
      Wait.until(
          mesh.vertx,
          BACK_WITHIN,
          () -> Future.succeededFuture(terminated("wait_event_type = 'Lock'") == 1));
      assertThat(refusal(waiting).code()).isEqualTo("session_store_unavailable");
      other.rollback();
    }
    Wait.until(
        mesh.vertx,
        Duration.ofSeconds(2),
        () -> Future.succeededFuture(errors() > 0 && away() == 0));
    result(mesh.store(turn("lost", "r1", null)));
  }

  @Test
  void a_statement_that_takes_too_long_stops_no_other() throws Exception {
    Time time = Time.system();
    Outage outage = new Outage(time, Duration.ofSeconds(5), Duration.ofSeconds(10));
    SessionConfig.Postgres config = config("timeout: 400ms", "5s").postgres();
    result(new Schema(config).migrate(mesh.vertx));
    PostgresRequests requests =
        new PostgresRequests(
            mesh.vertx,
            new PostgresConnections(mesh.vertx, config, time),
            outage,
            new SessionMeters(new SimpleMeterRegistry(), time));
    PostgresTurnStore store = new PostgresTurnStore(requests);
    try (Connection other = services.connection();
        Statement sql = other.createStatement()) {
      other.setAutoCommit(false);
      sql.execute("LOCK TABLE " + Schema.TURNS);
      Future<?> waiting = store.chain(key("slow", "r1"), Samples.PLENTY);
      assertThat(((MeshException) failure(waiting)).kind()).isEqualTo(FailureKind.UNAVAILABLE);
      assertThat(outage.away()).isFalse();
      other.rollback();
    }
    result(requests.close());
  }

  private void assertCrowdIsRefused(String tenant, List<StoredTurn> cached) {
    double spared = mesh.lookups("postgres", "spared");
    List<Future<?>> answers = new ArrayList<>();
    for (int i = 0; i < CROWD; i++) {
      answers.add(
          i % 2 == 0 ? mesh.find(tenant, "u" + i) : mesh.store(turn(tenant, "u" + i, null)));
    }
    assertThat(mesh.turns(tenant, "r3")).isEqualTo(cached);
    for (Future<?> answer : answers) {
      MeshException away = refusal(answer);
      assertThat(away.kind()).isEqualTo(FailureKind.UNAVAILABLE);
      assertThat(away.code()).isEqualTo("session_store_unavailable");
      assertThat(away.retryAfterMillis()).isPositive();
    }
    assertThat(mesh.lookups("postgres", "spared") - spared).isEqualTo(CROWD);
  }

  private double errors() {
    return mesh.registry
        .get("firstlight_session_tier_errors")
        .tag("tier", "postgres")
        .counter()
        .count();
  }

  private double away() {
    return mesh.registry
        .get("firstlight_session_tier_away")
        .tag("tier", "postgres")
        .gauge()
        .value();
  }

  /** Ends our connections for which this is true; tells how many. */
  private int terminated(String condition) {
    try (Connection connection = services.connection();
        Statement sql = connection.createStatement();
        var rows =
            sql.executeQuery(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    + " WHERE application_name = 'firstlight-session' AND "
                    + condition)) {
      rows.next();
      return rows.getInt(1);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** Through the proxy, and without Redis, so that only the local cache can help. */
  private SessionConfig config(String postgres, String attemptPause) {
    String yaml =
        """
        postgres: {host: 127.0.0.1, port: %d, database: postgres, user: postgres, %s}
        redis: {enabled: false}
        attemptPause: %s
        """
            .formatted(proxy.port(), postgres, attemptPause);
    Settings settings = Settings.parse(yaml, _ -> null);
    SessionConfig config = SessionConfig.from(settings);
    settings.problems().throwIfAny();
    return config;
  }
}
