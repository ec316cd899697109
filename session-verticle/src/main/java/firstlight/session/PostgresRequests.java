package firstlight.session;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.Future;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests to PostgreSQL. Every failure is a {@link MeshException}: {@link FailureKind#UNAVAILABLE}
 * with a retry time while the database is away, too slow or too busy, {@link FailureKind#INTERNAL}
 * otherwise; one that the request itself fails with stays as it is.
 */
final class PostgresRequests {
  static final long RETRY_AFTER_MILLIS = 2_000;

  private static final Logger LOG = LoggerFactory.getLogger(PostgresRequests.class);

  private final PostgresConnections connections;
  private final Outage outage;
  private final SessionMeters meters;

  PostgresRequests(PostgresConnections connections, Outage outage, SessionMeters meters) {
    this.connections = connections;
    this.outage = outage;
    this.meters = meters;
    meters.away("postgres", outage);
  }

  <T> Future<T> send(Function<Pool, Future<T>> request) {
    return connections
        .use(request)
        .andThen(
            result -> {
              if (result.succeeded() && outage.succeeded()) {
                LOG.info("PostgreSQL is back");
              }
            })
        .recover(cause -> Future.failedFuture(failure(cause)));
  }

  private MeshException failure(Throwable cause) {
    if (cause instanceof MeshException known) {
      return known;
    }
    meters.failed("postgres");
    if (cause instanceof PgException refused && isMistake(refused.getSqlState())) {
      LOG.error("PostgreSQL refuses a statement: {}", cause.getMessage(), cause);
      return new MeshException(
          FailureKind.INTERNAL, "internal_error", "The response could not be read or stored.");
    }
    if (outage.failed()) {
      LOG.warn("PostgreSQL is away: {}", String.valueOf(cause.getMessage()));
    }
    return new MeshException(
        FailureKind.UNAVAILABLE,
        "session_store_unavailable",
        "Stored responses cannot be reached at the moment. Try again in a few seconds, or send the"
            + " conversation as input with store set to false.",
        null,
        RETRY_AFTER_MILLIS);
  }

  /**
   * SQLSTATE classes of wrong values and wrong statements. A missing table, column or schema is not
   * among them: the migration that makes it has not run yet.
   */
  private static boolean isMistake(String state) {
    return switch (state) {
      case "42P01", "42703", "3F000" -> false;
      default -> state.startsWith("22") || state.startsWith("23") || state.startsWith("42");
    };
  }

  Future<Void> close() {
    return connections.close();
  }
}
