package firstlight.session;

import firstlight.protocol.AppendItems;
import firstlight.protocol.ChangeConversation;
import firstlight.protocol.ConversationAppend;
import firstlight.protocol.ConversationId;
import firstlight.protocol.CreateConversation;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.RemoveItem;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredConversation;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where conversations are. A conversation's turns never change, so they go through the caches like
 * all turns; its head does, and is always asked for here. Failures are those of {@link
 * PostgresRequests}, NOT_FOUND for a conversation that is not there, and TOO_LARGE for one that
 * would have more turns or characters than can be read again.
 */
final class PostgresConversationStore {
  private static final String ROW =
      """
      SELECT tenant, conversation, created, metadata, head, turns, characters,
        ARRAY(SELECT item FROM %s AS gone
          WHERE gone.tenant = $1 AND gone.conversation = $2) AS removed
      FROM %s WHERE tenant = $1 AND conversation = $2
      """
          .formatted(Schema.REMOVALS, Schema.CONVERSATIONS);

  private static final String LOCKED_ROW = ROW + " FOR UPDATE";

  private static final String CREATE =
      """
      INSERT INTO %s (tenant, conversation, created, metadata) VALUES ($1, $2, $3, $4)
      ON CONFLICT (tenant, conversation) DO NOTHING
      """
          .formatted(Schema.CONVERSATIONS);

  private static final String CHANGE =
      "UPDATE %s SET metadata = $3 WHERE tenant = $1 AND conversation = $2"
          .formatted(Schema.CONVERSATIONS);

  private static final String MOVE_HEAD =
      """
      UPDATE %s SET head = $3, turns = turns + 1, characters = characters + $4
      WHERE tenant = $1 AND conversation = $2 AND head IS NOT DISTINCT FROM $5
      """
          .formatted(Schema.CONVERSATIONS);

  private static final String REMOVE =
      """
      INSERT INTO %s (tenant, conversation, item)
      SELECT tenant, conversation, $3::text FROM %s WHERE tenant = $1 AND conversation = $2 FOR SHARE
      ON CONFLICT (tenant, conversation, item) DO NOTHING
      """
          .formatted(Schema.REMOVALS, Schema.CONVERSATIONS);

  private static final String TURNS =
      "SELECT response FROM %s WHERE tenant = $1 AND conversation = $2".formatted(Schema.TURNS);

  /** The conversation first: once its row is gone, nothing can be added. */
  private static final List<String> DELETE =
      List.of(Schema.CONVERSATIONS, Schema.REMOVALS, Schema.TURNS).stream()
          .map("DELETE FROM %s WHERE tenant = $1 AND conversation = $2"::formatted)
          .toList();

  private final PostgresRequests requests;
  private final Allowance limits;

  PostgresConversationStore(PostgresRequests requests, Allowance limits) {
    this.requests = requests;
    this.limits = limits;
  }

  Future<StoredConversation> create(CreateConversation ask) {
    Tuple values =
        key(ask.tenant(), ask.conversation()).addLong(ask.created()).addString(ask.metadata());
    return requests
        .send(pool -> pool.preparedQuery(CREATE).execute(values))
        .compose(_ -> find(ask.tenant(), ask.conversation()));
  }

  Future<StoredConversation> find(TenantId tenant, ConversationId id) {
    return requests.send(pool -> row(pool, ROW, tenant, id)).map(PostgresConversationStore::read);
  }

  Future<StoredConversation> change(ChangeConversation ask) {
    Tuple values = key(ask.tenant(), ask.conversation()).addString(ask.metadata());
    return requests
        .send(pool -> pool.preparedQuery(CHANGE).execute(values))
        .compose(_ -> find(ask.tenant(), ask.conversation()));
  }

  Future<StoredConversation> remove(RemoveItem ask) {
    Tuple values = key(ask.tenant(), ask.conversation()).addString(ask.item());
    return requests
        .send(pool -> pool.preparedQuery(REMOVE).execute(values))
        .compose(_ -> find(ask.tenant(), ask.conversation()));
  }

  /**
   * @return the turn as it is stored; empty when it had been before
   */
  Future<List<StoredTurn>> append(AppendItems ask) {
    return requests.send(
        pool ->
            pool.withTransaction(
                connection ->
                    isStored(connection, ask.items())
                        .compose(
                            stored ->
                                stored
                                    ? Future.succeededFuture(List.of())
                                    : append(connection, ask, ROW).map(List::of))));
  }

  /**
   * Stores a Response and appends its Items, both or neither.
   *
   * @return the turns that were stored; empty when the Response had been before
   */
  Future<List<StoredTurn>> keep(StoredTurn turn, ConversationAppend append) {
    AppendItems items = new AppendItems(append.conversation(), copy(turn, append.turn()));
    return requests.send(
        pool ->
            pool.withTransaction(
                connection ->
                    insert(connection, turn, null)
                        .compose(
                            added ->
                                added
                                    ? append(connection, items, ROW).map(own -> List.of(turn, own))
                                    : Future.succeededFuture(List.of()))));
  }

  /** The turns that are the conversation's own. */
  Future<List<TurnKey>> turns(TenantId tenant, ConversationId id) {
    return requests
        .send(pool -> pool.preparedQuery(TURNS).execute(key(tenant, id)))
        .map(
            rows -> {
              List<TurnKey> keys = new ArrayList<>(rows.size());
              rows.forEach(
                  row -> keys.add(new TurnKey(tenant, new ResponseId(row.getString("response")))));
              return keys;
            });
  }

  /** With all its turns, also those that were added a moment ago. */
  Future<Void> delete(TenantId tenant, ConversationId id) {
    return requests.send(
        pool ->
            pool.withTransaction(
                connection -> {
                  Future<Void> deleted = Future.succeededFuture();
                  for (String statement : DELETE) {
                    deleted =
                        deleted.compose(
                            _ ->
                                connection
                                    .preparedQuery(statement)
                                    .execute(key(tenant, id))
                                    .mapEmpty());
                  }
                  return deleted;
                }));
  }

  /**
   * Moves the head from what it is seen to be. Where it has moved meanwhile, the next attempt holds
   * the row, so that it cannot be late again.
   */
  private Future<StoredTurn> append(SqlClient connection, AppendItems ask, String look) {
    return row(connection, look, ask.tenant(), ask.conversation())
        .compose(
            row -> {
              StoredTurn turn = below(row.getString("head"), ask.items());
              int characters = Allowance.characters(turn);
              if (row.getInteger("turns") >= limits.turns()
                  || row.getLong("characters") + characters > limits.characters()) {
                return Future.failedFuture(tooLong(ask.conversation()));
              }
              Tuple move =
                  key(ask.tenant(), ask.conversation())
                      .addString(turn.response().value())
                      .addLong((long) characters)
                      .addString(row.getString("head"));
              return connection
                  .preparedQuery(MOVE_HEAD)
                  .execute(move)
                  .compose(
                      moved ->
                          moved.rowCount() == 0
                              ? append(connection, ask, LOCKED_ROW)
                              : insert(connection, turn, ask.conversation()).map(turn));
            });
  }

  private static Future<Boolean> isStored(SqlClient connection, StoredTurn turn) {
    return connection
        .preparedQuery(
            "SELECT 1 FROM %s WHERE tenant = $1 AND response = $2".formatted(Schema.TURNS))
        .execute(Tuple.of(turn.tenant().value(), turn.response().value()))
        .map(rows -> rows.size() > 0);
  }

  private static Future<Boolean> insert(
      SqlClient connection, StoredTurn turn, @Nullable ConversationId owner) {
    return connection
        .preparedQuery(PostgresTurnStore.KEEP)
        .execute(PostgresTurnStore.values(turn, owner))
        .map(rows -> rows.rowCount() > 0);
  }

  private static Future<Row> row(
      SqlClient client, String statement, TenantId tenant, ConversationId id) {
    return client
        .preparedQuery(statement)
        .execute(key(tenant, id))
        .compose(
            rows ->
                rows.size() == 0
                    ? Future.<Row>failedFuture(notFound(id))
                    : Future.succeededFuture(rows.iterator().next()));
  }

  private static StoredTurn below(@Nullable String head, StoredTurn turn) {
    return new StoredTurn(
        turn.response(),
        turn.tenant(),
        head == null ? null : new ResponseId(head),
        turn.model(),
        turn.created(),
        turn.status(),
        turn.input(),
        turn.output(),
        turn.resource(),
        turn.usage());
  }

  /** A Response may be deleted and its Items stay: they are a turn of the conversation's own. */
  private static StoredTurn copy(StoredTurn turn, ResponseId id) {
    return new StoredTurn(
        id,
        turn.tenant(),
        null,
        turn.model(),
        turn.created(),
        turn.status(),
        turn.input(),
        turn.output(),
        "",
        turn.usage());
  }

  private static StoredConversation read(Row row) {
    String head = row.getString("head");
    return new StoredConversation(
        new ConversationId(row.getString("conversation")),
        new TenantId(row.getString("tenant")),
        row.getLong("created"),
        row.getString("metadata"),
        head == null ? null : new ResponseId(head),
        List.of(row.getArrayOfStrings("removed")));
  }

  private static Tuple key(TenantId tenant, ConversationId id) {
    return Tuple.tuple().addString(tenant.value()).addString(id.value());
  }

  static MeshException notFound(ConversationId id) {
    return new MeshException(
        FailureKind.NOT_FOUND,
        "conversation_not_found",
        "The conversation '%s' is not stored.".formatted(id));
  }

  private MeshException tooLong(ConversationId id) {
    return new MeshException(
        FailureKind.TOO_LARGE,
        "conversation_too_long",
        ("The conversation '%s' would have more than %d additions or more than %d characters."
                + " Start a new one, with a summary of this one as its Items.")
            .formatted(id, limits.turns(), limits.characters()));
  }
}
