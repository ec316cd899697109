package firstlight.session;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.Usage;
import io.vertx.core.Future;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlResult;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The truth. Every failure is a {@link MeshException}: {@link FailureKind#UNAVAILABLE} with a retry
 * time while the database is away, too slow or too busy, {@link FailureKind#INTERNAL} otherwise.
 */
final class PostgresTurnStore implements TurnStore {
  static final long RETRY_AFTER_MILLIS = 2_000;

  private static final Logger LOG = LoggerFactory.getLogger(PostgresTurnStore.class);

  /** Walks the keys first; contents are read only for the turns that belong to the chain. */
  private static final String CHAIN =
      """
      WITH RECURSIVE chain AS (
        SELECT response, parent, 1 AS depth, characters::bigint AS total
        FROM %1$s WHERE tenant = $1 AND response = $2 AND $3 > 0 AND $4 >= 0
        UNION ALL
        SELECT turn.response, turn.parent, chain.depth + 1, chain.total + turn.characters
        FROM chain JOIN %1$s AS turn ON turn.tenant = $1 AND turn.response = chain.parent
        WHERE chain.depth < $3 AND chain.total <= $4)
      SELECT turn.* FROM chain JOIN %1$s AS turn
      ON turn.tenant = $1 AND turn.response = chain.response ORDER BY chain.depth
      """
          .formatted(Schema.TURNS);

  private static final String KEEP =
      """
      INSERT INTO %s (tenant, response, parent, created, model, status, input, output, resource,
        prompt_tokens, cached_tokens, output_tokens, characters)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
      ON CONFLICT (tenant, response) DO NOTHING
      """
          .formatted(Schema.TURNS);

  private static final String FORGET =
      "DELETE FROM %s WHERE tenant = $1 AND response = $2".formatted(Schema.TURNS);

  private final PostgresConnections connections;
  private final Outage outage;
  private final SessionMeters meters;

  PostgresTurnStore(PostgresConnections connections, Outage outage, SessionMeters meters) {
    this.connections = connections;
    this.outage = outage;
    this.meters = meters;
    meters.away("postgres", outage);
  }

  @Override
  public Future<List<StoredTurn>> chain(TurnKey newest, Allowance allowance) {
    Tuple values =
        Tuple.of(
            newest.tenant().value(),
            newest.response().value(),
            allowance.turns(),
            allowance.characters());
    return guard(pool -> pool.preparedQuery(CHAIN).execute(values))
        .map(
            rows -> {
              List<StoredTurn> chain = new ArrayList<>(rows.size());
              rows.forEach(row -> chain.add(turn(row)));
              return chain;
            });
  }

  @Override
  public Future<Integer> keep(List<StoredTurn> turns) {
    if (turns.isEmpty()) {
      return Future.succeededFuture(0);
    }
    List<Tuple> rows = turns.stream().map(PostgresTurnStore::values).toList();
    return guard(pool -> pool.preparedQuery(KEEP).executeBatch(rows))
        .map(PostgresTurnStore::rowsChanged);
  }

  @Override
  public Future<Boolean> forget(TurnKey key) {
    Tuple values = Tuple.of(key.tenant().value(), key.response().value());
    return guard(pool -> pool.preparedQuery(FORGET).execute(values))
        .map(rows -> rows.rowCount() > 0);
  }

  @Override
  public Future<Void> close() {
    return connections.close();
  }

  private <T> Future<T> guard(Function<Pool, Future<T>> request) {
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
    meters.failed("postgres");
    if (cause instanceof PgException refused && isMistake(refused.getSqlState())) {
      LOG.error("PostgreSQL refuses a statement", cause);
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
   * SQLSTATE classes of wrong values and wrong statements. A missing table or schema is not among
   * them: the migration that makes it has not run yet.
   */
  private static boolean isMistake(String state) {
    return switch (state) {
      case "42P01", "3F000" -> false;
      default -> state.startsWith("22") || state.startsWith("23") || state.startsWith("42");
    };
  }

  private static int rowsChanged(RowSet<Row> first) {
    int changed = 0;
    for (SqlResult<RowSet<Row>> rows = first; rows != null; rows = rows.next()) {
      changed += rows.rowCount();
    }
    return changed;
  }

  private static Tuple values(StoredTurn turn) {
    return Tuple.tuple()
        .addString(turn.tenant().value())
        .addString(turn.response().value())
        .addString(turn.parent() == null ? null : turn.parent().value())
        .addLong(turn.created())
        .addString(turn.model())
        .addString(turn.status())
        .addString(turn.input())
        .addString(turn.output())
        .addString(turn.resource())
        .addInteger(turn.usage().prompt())
        .addInteger(turn.usage().cached())
        .addInteger(turn.usage().output())
        .addInteger(Allowance.characters(turn));
  }

  private static StoredTurn turn(Row row) {
    String parent = row.getString("parent");
    return new StoredTurn(
        new ResponseId(row.getString("response")),
        new TenantId(row.getString("tenant")),
        parent == null ? null : new ResponseId(parent),
        row.getString("model"),
        row.getLong("created"),
        row.getString("status"),
        row.getString("input"),
        row.getString("output"),
        row.getString("resource"),
        new Usage(
            row.getInteger("prompt_tokens"),
            row.getInteger("cached_tokens"),
            row.getInteger("output_tokens")));
  }
}
