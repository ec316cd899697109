package firstlight.session;

import static firstlight.session.Samples.PLENTY;
import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static firstlight.session.Wait.failure;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(RealServices.Extension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class PostgresTurnStoreTest extends TurnStoreContract {
  private final Vertx vertx = Vertx.vertx();
  private final RealServices services;
  private final PostgresTurnStore store;

  PostgresTurnStoreTest(RealServices services) {
    this.services = services;
    SessionConfig.Postgres given = services.config().postgres();
    store = store(given, 8, 1_000, Duration.ofSeconds(2));
    result(new Schema(given).migrate(vertx));
  }

  @BeforeEach
  void empty() {
    services.sql("TRUNCATE " + Schema.TURNS);
  }

  @AfterAll
  void close() {
    result(vertx.close());
  }

  @Override
  TurnStore store() {
    return store;
  }

  /** Every version that there was, with what it kept, and as far as it knew of it. */
  static List<Integer> versions() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("src/main/resources/db/migration/session"))) {
      return files
          .map(file -> file.getFileName().toString().replaceAll("^V(\\d+)__.*", "$1"))
          .map(Integer::valueOf)
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("versions")
  void what_an_earlier_version_kept_is_there_after_the_migrations_since(int version)
      throws SQLException {
    SessionConfig.Postgres database = services.freshDatabase("since_v" + version);
    Schema.flyway(database).target(String.valueOf(version)).load().migrate();
    List<StoredTurn> turns = Samples.conversation("t", 3);
    try (Connection connection = RealServices.connection(database)) {
      for (StoredTurn turn : turns) {
        insert(connection, turn);
      }
    }

    result(new Schema(database).migrate(vertx));

    PostgresTurnStore migrated = store(database, 2, 10, Duration.ofSeconds(2));
    assertThat(result(migrated.chain(key("t", "r3"), PLENTY))).hasSameElementsAs(turns);
    StoredTurn next = turn("t", "r4", "r3");
    assertThat(result(migrated.keep(List.of(next)))).isEqualTo(1);
    assertThat(result(migrated.chain(key("t", "r4"), PLENTY))).hasSize(4).contains(next);
    result(migrated.close());
  }

  /** With the columns of the first version. */
  private static void insert(Connection connection, StoredTurn turn) throws SQLException {
    String columns =
        "tenant, response, parent, created, model, status, input, output, resource, prompt_tokens,"
            + " cached_tokens, output_tokens, characters";
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO %s (%s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                .formatted(Schema.TURNS, columns))) {
      int characters = turn.input().length() + turn.output().length() + turn.resource().length();
      Object[] values = {
        turn.tenant().value(),
        turn.response().value(),
        turn.parent() == null ? null : turn.parent().value(),
        turn.created(),
        turn.model(),
        turn.status(),
        turn.input(),
        turn.output(),
        turn.resource(),
        turn.usage().prompt(),
        turn.usage().cached(),
        turn.usage().output(),
        characters
      };
      for (int i = 0; i < values.length; i++) {
        insert.setObject(i + 1, values[i]);
      }
      insert.executeUpdate();
    }
  }

  @Test
  void words_of_a_client_are_never_sql() {
    StoredTurn turn = turn("t", "r1", null, "[\"'; DROP TABLE turns; --\"]");
    result(store.keep(List.of(turn)));
    assertThat(result(store.chain(key("t", "r1"), PLENTY))).containsExactly(turn);
  }

  @Test
  void a_character_that_postgresql_cannot_hold_is_our_mistake_and_no_outage() {
    MeshException refused =
        (MeshException) failure(store.keep(List.of(turn("t", "r1", null, "[\"\0\"]"))));
    assertThat(refused.kind()).isEqualTo(FailureKind.INTERNAL);
    assertThat(refused.getMessage()).doesNotContain("SQL", "UTF8");
    assertThat(result(store.keep(List.of(turn("t", "r1", null))))).isEqualTo(1);
  }

  /** An instance of a newer version may come before its migration. */
  @Test
  void a_column_that_is_not_there_yet_is_an_outage_and_no_mistake() {
    services.sql("ALTER TABLE %s RENAME COLUMN conversation TO later".formatted(Schema.TURNS));
    try {
      assertUnavailable(store.keep(List.of(turn("t", "r1", null))));
    } finally {
      services.sql("ALTER TABLE %s RENAME COLUMN later TO conversation".formatted(Schema.TURNS));
    }
    assertThat(result(store.keep(List.of(turn("t", "r1", null))))).isEqualTo(1);
  }

  @Test
  void fifty_requests_over_two_connections_are_all_answered() {
    PostgresTurnStore narrow = store(services.config().postgres(), 2, 50, Duration.ofSeconds(5));
    List<Future<Integer>> answers =
        IntStream.range(0, 50)
            .mapToObj(i -> narrow.keep(List.of(turn("t", "r" + i, null))))
            .toList();
    assertThat(answers).allSatisfy(answer -> assertThat(result(answer)).isEqualTo(1));
  }

  @Test
  void a_request_that_no_connection_can_take_is_refused_at_once() throws SQLException {
    PostgresTurnStore narrow = store(services.config().postgres(), 1, 1, Duration.ofSeconds(2));
    result(narrow.chain(key("t", "r1"), PLENTY));
    try (Connection other = services.connection();
        Statement lock = other.createStatement()) {
      other.setAutoCommit(false);
      lock.execute("LOCK TABLE " + Schema.TURNS);
      List<Future<List<StoredTurn>>> answers =
          IntStream.range(0, 5).mapToObj(_ -> narrow.chain(key("t", "r1"), PLENTY)).toList();
      assertUnavailable(answers.getLast());
      other.rollback();
      assertThat(result(answers.getFirst())).isEmpty();
    }
  }

  @Test
  void a_database_that_does_not_answer_is_given_up_in_time_and_used_again_afterwards()
      throws SQLException {
    PostgresTurnStore narrow = store(services.config().postgres(), 1, 10, Duration.ofMillis(300));
    result(narrow.chain(key("t", "r1"), PLENTY));
    try (Connection other = services.connection();
        Statement lock = other.createStatement()) {
      other.setAutoCommit(false);
      lock.execute("LOCK TABLE " + Schema.TURNS);
      long start = Time.system().nanos();
      assertUnavailable(narrow.chain(key("t", "r1"), PLENTY));
      assertThat(Duration.ofNanos(Time.system().nanos() - start))
          .isLessThan(Duration.ofMillis(1_500));
      other.rollback();
    }
    Wait.until(
        vertx,
        Duration.ofSeconds(2),
        () -> narrow.chain(key("t", "r1"), PLENTY).map(List::isEmpty));
  }

  @Test
  void a_read_only_database_is_one_that_is_away() {
    services.sql("ALTER ROLE postgres SET default_transaction_read_only = on");
    try {
      PostgresTurnStore other = store(services.config().postgres(), 1, 10, Duration.ofSeconds(3));
      assertUnavailable(other.keep(List.of(turn("t", "r1", null))));
      assertThat(result(other.chain(key("t", "r1"), PLENTY))).isEmpty();
    } finally {
      services.sql(
          "BEGIN READ WRITE; ALTER ROLE postgres RESET default_transaction_read_only; COMMIT");
    }
  }

  @Test
  void the_right_password_opens_the_database_and_a_wrong_one_is_an_outage() {
    services.addUser("careful", "hush");
    PostgresTurnStore right = store(login("hush"), 1, 10, Duration.ofSeconds(3));
    PostgresTurnStore wrong = store(login("guess"), 2, 10, Duration.ofSeconds(3));
    Wait.until(
        vertx,
        Duration.ofSeconds(5),
        () -> wrong.chain(key("t", "r1"), PLENTY).map(false).otherwise(true));
    assertUnavailable(wrong.chain(key("t", "r1"), PLENTY));
    assertThat(result(right.chain(key("t", "r1"), PLENTY))).isEmpty();
    result(new Schema(login("hush")).migrate(vertx));
    assertThat(failure(new Schema(login("guess")).migrate(vertx)))
        .hasMessageContaining("password authentication failed for user \"careful\"")
        .hasMessageNotContaining("guess");
  }

  private SessionConfig.Postgres login(String password) {
    SessionConfig.Postgres given = services.config().postgres();
    return new SessionConfig.Postgres(
        given.host(),
        given.port(),
        given.database(),
        "careful",
        password,
        given.poolSize(),
        given.waitingMax(),
        given.timeout(),
        given.renewAfter(),
        given.lifetime(),
        given.migrate());
  }

  private PostgresTurnStore store(
      SessionConfig.Postgres given, int connections, int waiting, Duration timeout) {
    Time time = Time.system();
    SessionConfig.Postgres config =
        new SessionConfig.Postgres(
            given.host(),
            given.port(),
            given.database(),
            given.user(),
            given.password(),
            connections,
            waiting,
            timeout,
            given.renewAfter(),
            given.lifetime(),
            true);
    return new PostgresTurnStore(
        new PostgresRequests(
            vertx,
            new PostgresConnections(vertx, config, time),
            new Outage(time, Duration.ofMillis(100), Duration.ofSeconds(10)),
            new SessionMeters(new SimpleMeterRegistry(), time)));
  }

  private static void assertUnavailable(Future<?> answer) {
    MeshException away = (MeshException) failure(answer);
    assertThat(away.kind()).isEqualTo(FailureKind.UNAVAILABLE);
    assertThat(away.code()).isEqualTo("session_store_unavailable");
    assertThat(away.retryAfterMillis()).isPositive();
  }
}
