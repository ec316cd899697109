package firstlight.session;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.sql.SQLException;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the tables up to date. Flyway holds an advisory lock of PostgreSQL meanwhile, so several
 * nodes may start at once; this class sees to it that the verticles of one node do it once. The
 * tables have a schema of their own, since other programs may share the database.
 */
final class Schema {
  static final String NAME = "firstlight_session";
  static final String TURNS = NAME + ".turns";
  static final String CONVERSATIONS = NAME + ".conversations";
  static final String FEEDBACK_IDS = NAME + ".feedback_ids";
  static final String REMOVALS = NAME + ".conversation_removals";

  private static final Logger LOG = LoggerFactory.getLogger(Schema.class);
  private static final int WAIT_SECONDS = 5;

  private final SessionConfig.Postgres config;
  private boolean current;

  /** The database is not there yet; trying again later makes sense. */
  static final class DatabaseAway extends RuntimeException {
    DatabaseAway(String message) {
      super(message, null, false, false);
    }
  }

  Schema(SessionConfig.Postgres config) {
    this.config = config;
  }

  /**
   * Fails with {@link DatabaseAway}, or with an {@link IllegalStateException} that says what an
   * operator has to put right.
   */
  Future<Void> migrate(Vertx vertx) {
    return vertx.executeBlocking(
        () -> {
          migrateOnce();
          return null;
        },
        false);
  }

  private synchronized void migrateOnce() {
    if (current || !config.migrate()) {
      return;
    }
    try {
      int steps = flyway(config).load().migrate().migrationsExecuted;
      current = true;
      LOG.info("The tables for stored responses are up to date ({} migrations run)", steps);
    } catch (FlywayException e) {
      throw explain(e);
    }
  }

  /** All migrations, for that database. */
  static FluentConfiguration flyway(SessionConfig.Postgres config) {
    return Flyway.configure(Schema.class.getClassLoader())
        .loggers("slf4j")
        .dataSource(
            "jdbc:postgresql://%s:%d/%s".formatted(config.host(), config.port(), config.database()),
            config.user(),
            config.password())
        .jdbcProperties(
            Map.of(
                "connectTimeout", String.valueOf(WAIT_SECONDS),
                "loginTimeout", String.valueOf(WAIT_SECONDS),
                "ApplicationName", "firstlight-session-migration"))
        .schemas(NAME)
        .locations("classpath:db/migration/session");
  }

  private RuntimeException explain(FlywayException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException refused && refused.getSQLState() != null) {
        String message = "PostgreSQL at %s: %s".formatted(config, refused.getMessage());
        return isAway(refused.getSQLState())
            ? new DatabaseAway(message)
            : new IllegalStateException(message, failure);
      }
    }
    return new IllegalStateException(
        "the tables in PostgreSQL at %s cannot be brought up to date: %s"
            .formatted(config, failure.getMessage()),
        failure);
  }

  /** No connection, no room for one, shutting down or starting up. */
  private static boolean isAway(String state) {
    return state.startsWith("08") || state.startsWith("53") || state.startsWith("57P");
  }
}
