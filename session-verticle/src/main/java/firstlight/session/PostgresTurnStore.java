package firstlight.session;

import firstlight.protocol.ConversationId;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.Usage;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlResult;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The truth. Its failures are those of {@link PostgresRequests}. */
final class PostgresTurnStore implements TurnStore {
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

  /** The last value: whose turn it is, null for a Response. */
  static final String KEEP =
      """
      INSERT INTO %s (tenant, response, parent, created, model, status, input, output, resource,
        prompt_tokens, cached_tokens, output_tokens, characters, conversation)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      ON CONFLICT (tenant, response) DO NOTHING
      """
          .formatted(Schema.TURNS);

  private static final String FORGET =
      "DELETE FROM %s WHERE tenant = $1 AND response = $2".formatted(Schema.TURNS);

  private final PostgresRequests requests;

  PostgresTurnStore(PostgresRequests requests) {
    this.requests = requests;
  }

  @Override
  public Future<List<StoredTurn>> chain(TurnKey newest, Allowance allowance) {
    Tuple values =
        Tuple.of(
            newest.tenant().value(),
            newest.response().value(),
            allowance.turns(),
            allowance.characters());
    return requests
        .send(pool -> pool.preparedQuery(CHAIN).execute(values))
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
    List<Tuple> rows = turns.stream().map(turn -> values(turn, null)).toList();
    return requests
        .send(pool -> pool.preparedQuery(KEEP).executeBatch(rows))
        .map(PostgresTurnStore::rowsChanged);
  }

  @Override
  public Future<Boolean> forget(TurnKey key) {
    Tuple values = Tuple.of(key.tenant().value(), key.response().value());
    return requests
        .send(pool -> pool.preparedQuery(FORGET).execute(values))
        .map(rows -> rows.rowCount() > 0);
  }

  @Override
  public Future<Void> close() {
    return requests.close();
  }

  private static int rowsChanged(RowSet<Row> first) {
    int changed = 0;
    for (SqlResult<RowSet<Row>> rows = first; rows != null; rows = rows.next()) {
      changed += rows.rowCount();
    }
    return changed;
  }

  /** Of {@link #KEEP}. */
  static Tuple values(StoredTurn turn, @Nullable ConversationId owner) {
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
        .addInteger(Allowance.characters(turn))
        .addString(owner == null ? null : owner.value());
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
