package firstlight.session;

import firstlight.protocol.Time;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.PoolOptions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A pool of connections that is replaced as a whole once it seems useless. The client notices a
 * connection that is closed, but neither one whose other end is gone without a word (and it can be
 * told no idle timeout) nor one to a server that was switched to read-only. The server gives up a
 * statement before we do, so a request without any answer in time is the sign of the former.
 */
final class PostgresConnections {
  private static final Logger LOG = LoggerFactory.getLogger(PostgresConnections.class);
  private static final String READ_ONLY = "25006";

  private final Vertx vertx;
  private final SessionConfig.Postgres config;
  private final Time time;
  private Pool pool;
  private long since;

  PostgresConnections(Vertx vertx, SessionConfig.Postgres config, Time time) {
    this.vertx = vertx;
    this.config = config;
    this.time = time;
    this.pool = open();
    this.since = time.nanos();
  }

  /** Fails with a {@link TimeoutException} when there is no answer in time. */
  <T> Future<T> use(Function<Pool, Future<T>> request) {
    Pool used = current();
    return request
        .apply(used)
        .timeout(config.timeout().toMillis(), TimeUnit.MILLISECONDS)
        .onFailure(
            cause -> {
              if (cause instanceof TimeoutException
                  || (cause instanceof PgException refused
                      && refused.getSqlState().equals(READ_ONLY))) {
                replace(used);
              }
            });
  }

  Future<Void> close() {
    return current().close();
  }

  private synchronized Pool current() {
    return pool;
  }

  private synchronized void replace(Pool used) {
    if (used != pool || time.nanos() - since < config.renewAfter().toNanos()) {
      return;
    }
    LOG.warn("Connecting to PostgreSQL anew, since its connections seem useless");
    pool = open();
    since = time.nanos();
    // Whatever still runs over the old connections ends by then, well or not.
    vertx.setTimer(config.timeout().toMillis(), _ -> used.close());
  }

  private Pool open() {
    Duration timeout = config.timeout();
    PoolOptions options =
        new PoolOptions()
            .setMaxSize(config.poolSize())
            .setMaxWaitQueueSize(config.waitingMax())
            .setConnectionTimeout((int) timeout.toMillis())
            .setConnectionTimeoutUnit(TimeUnit.MILLISECONDS)
            .setMaxLifetime((int) config.lifetime().toSeconds())
            .setMaxLifetimeUnit(TimeUnit.SECONDS);
    PgConnectOptions connection =
        new PgConnectOptions()
            .setHost(config.host())
            .setPort(config.port())
            .setDatabase(config.database())
            .setUser(config.user())
            .setPassword(config.password())
            .setCachePreparedStatements(true)
            .setProperties(
                Map.of(
                    "application_name", "firstlight-session",
                    "client_encoding", "utf-8",
                    "DateStyle", "ISO",
                    "statement_timeout", String.valueOf(timeout.toMillis() * 3 / 4)));
    return PgBuilder.pool().with(options).connectingTo(connection).using(vertx).build();
  }
}
