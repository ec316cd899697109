package firstlight.session;

import static firstlight.session.Wait.failure;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RealServices.Extension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SchemaTest {
  private final Vertx vertx = Vertx.vertx();
  private final RealServices services;

  SchemaTest(RealServices services) {
    this.services = services;
  }

  @AfterAll
  void close() {
    result(vertx.close());
  }

  @Test
  void an_empty_database_gets_its_tables_and_keeps_them_the_next_time() throws SQLException {
    SessionConfig.Postgres fresh = services.freshDatabase("schema_fresh");
    result(new Schema(fresh).migrate(vertx));
    assertThat(number(fresh, "SELECT count(*) FROM " + Schema.TURNS)).isZero();
    execute(
        fresh,
        """
        INSERT INTO firstlight_session.turns VALUES
          ('t', 'r', NULL, 1, 'm', 'completed', '[]', '[]', '{}', 1, 0, 1, 6)
        """);
    result(new Schema(fresh).migrate(vertx));
    assertThat(number(fresh, "SELECT count(*) FROM " + Schema.TURNS)).isEqualTo(1);
    assertThat(
            number(
                fresh, "SELECT count(*) FROM firstlight_session.turns WHERE home_region = 'local'"))
        .isEqualTo(1);
  }

  @Test
  void nodes_that_start_at_the_same_moment_do_not_disturb_each_other() throws SQLException {
    SessionConfig.Postgres fresh = services.freshDatabase("schema_race");
    List<Future<Void>> starts =
        IntStream.range(0, 4).mapToObj(_ -> new Schema(fresh).migrate(vertx)).toList();
    assertThat(starts).allSatisfy(start -> assertThat(result(start)).isNull());
    assertThat(
            number(
                fresh,
                "SELECT count(*) FROM firstlight_session.flyway_schema_history WHERE version ="
                    + " '1'"))
        .isEqualTo(1);
  }

  @Test
  void a_table_of_somebody_else_in_the_database_does_not_matter() throws SQLException {
    SessionConfig.Postgres fresh = services.freshDatabase("schema_shared");
    execute(fresh, "CREATE TABLE turns (theirs text)");
    result(new Schema(fresh).migrate(vertx));
    assertThat(number(fresh, "SELECT count(*) FROM " + Schema.TURNS)).isZero();
  }

  @Test
  void a_changed_migration_is_refused() throws SQLException {
    SessionConfig.Postgres fresh = services.freshDatabase("schema_changed");
    result(new Schema(fresh).migrate(vertx));
    execute(
        fresh,
        "UPDATE firstlight_session.flyway_schema_history SET checksum = 1 WHERE version = '1'");
    assertThat(failure(new Schema(fresh).migrate(vertx)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("cannot be brought up to date");
  }

  @Test
  void an_unknown_user_or_database_is_for_the_operator_to_put_right() {
    SessionConfig.Postgres given = services.config().postgres();
    SessionConfig.Postgres wrong =
        new SessionConfig.Postgres(
            given.host(),
            given.port(),
            "nowhere",
            "postgres",
            "hush",
            1,
            1,
            given.timeout(),
            given.renewAfter(),
            given.lifetime(),
            true);
    assertThat(failure(new Schema(wrong).migrate(vertx)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("PostgreSQL at postgres@127.0.0.1")
        .hasMessageContaining("\"nowhere\" does not exist")
        .hasMessageNotContaining("hush");
  }

  @Test
  void a_database_that_is_not_there_may_come_later() {
    assertThat(failure(new Schema(services.config().postgres().at("127.0.0.1", 1)).migrate(vertx)))
        .isInstanceOf(Schema.DatabaseAway.class);
  }

  private static long number(SessionConfig.Postgres database, String query) throws SQLException {
    try (Connection connection = RealServices.connection(database);
        var statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static void execute(SessionConfig.Postgres database, String sql) throws SQLException {
    try (Connection connection = RealServices.connection(database);
        var statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
