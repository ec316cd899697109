package firstlight.session;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.ConnectionPoolTooBusyException;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests to PostgreSQL. Every failure is a {@link MeshException}: {@link FailureKind#UNAVAILABLE}
 * with a retry time while the database is away, too slow or too busy, {@link FailureKind#INTERNAL}
 * otherwise; one that the request itself fails with stays as it is.
 *
 * <p>Once the database did not answer, requests are refused at once, and a {@link Lookout} finds
 * out when it is back. An answer that refuses one statement is an answer: it stops no others.
 */
final class PostgresRequests {
  static final long RETRY_AFTER_MILLIS = 2_000;

  private static final Logger LOG = LoggerFactory.getLogger(PostgresRequests.class);
  private static final String TIER = "postgres";

  private final PostgresConnections connections;
  private final Outage outage;
  private final SessionMeters meters;
  private final Lookout lookout;

  PostgresRequests(
      Vertx vertx, PostgresConnections connections, Outage outage, SessionMeters meters) {
    this.connections = connections;
    this.outage = outage;
    this.meters = meters;
    this.lookout =
        new Lookout(vertx, outage, () -> attempt(pool -> pool.query("SELECT 1").execute()));
    meters.away(TIER, outage);
  }

  <T> Future<T> send(Function<Pool, Future<T>> request) {
    if (outage.away()) {
      // Another instance of this node may have found out, and may be gone.
      lookout.begin();
      meters.spared(TIER);
      return Future.failedFuture(unavailable());
    }
    return attempt(request).recover(cause -> Future.failedFuture(failure(cause)));
  }

  Future<Void> close() {
    lookout.close();
    return connections.close();
  }

  private <T> Future<T> attempt(Function<Pool, Future<T>> request) {
    return connections
        .use(request)
        .andThen(
            result -> {
              if (result.succeeded()) {
                answered();
              } else {
                failed(result.cause());
              }
            });
  }

  private void answered() {
    if (outage.succeeded()) {
      LOG.info("PostgreSQL is back");
    }
  }

  private void failed(Throwable cause) {
    switch (cause) {
      case MeshException _ -> answered();
      case ConnectionPoolTooBusyException _ -> refused(cause);
      case PgException answer when !isAway(answer.getSqlState()) -> {
        answered();
        refused(answer);
      }
      default -> {
        meters.failed(TIER);
        if (outage.failed()) {
          LOG.warn("PostgreSQL is away: {}", String.valueOf(cause.getMessage()));
        }
        lookout.begin();
      }
    }
  }

  private void refused(Throwable cause) {
    meters.failed(TIER);
    if (isMistake(cause)) {
      LOG.error("PostgreSQL refuses a statement: {}", cause.getMessage(), cause);
    } else if (outage.mayTell()) {
      LOG.warn("PostgreSQL cannot do a request now: {}", String.valueOf(cause.getMessage()));
    }
  }

  private static MeshException failure(Throwable cause) {
    if (cause instanceof MeshException known) {
      return known;
    }
    return isMistake(cause)
        ? new MeshException(
            FailureKind.INTERNAL, "internal_error", "The response could not be read or stored.")
        : unavailable();
  }

  private static MeshException unavailable() {
    return new MeshException(
        FailureKind.UNAVAILABLE,
        "session_store_unavailable",
        "Stored responses cannot be reached at the moment. Try again in a few seconds, or send the"
            + " conversation as input with store set to false.",
        null,
        RETRY_AFTER_MILLIS);
  }

  /** SQLSTATEs with which the server gives no connection, or takes one away. */
  private static boolean isAway(String state) {
    return state.startsWith("08")
        || state.startsWith("28")
        || state.startsWith("3D")
        || state.startsWith("57P")
        || state.equals("53300");
  }

  /**
   * SQLSTATE classes of wrong values and wrong statements. A missing table, column or schema is not
   * among them: the migration that makes it has not run yet.
   */
  private static boolean isMistake(Throwable cause) {
    if (!(cause instanceof PgException refused)) {
      return false;
    }
    String state = refused.getSqlState();
    return switch (state) {
      case "42P01", "42703", "3F000" -> false;
      default -> state.startsWith("22") || state.startsWith("23") || state.startsWith("42");
    };
  }
}
