package firstlight.session;

import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.net.NetClientOptions;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The region's cache. One string a turn, in the {@link TurnFormat}, under {@code
 * prefix{tenant}response}: the braces keep a tenant's turns in one slot of a Redis cluster, so that
 * a script may walk them.
 *
 * <p>Turns are written only where nothing lies (NX), and a deleted one leaves a marker for {@link
 * TurnStore#FORGOTTEN_FOR}: a late write cannot bring it back.
 */
final class RedisTurnStore implements TurnStore {
  private static final String MARKER = "-";

  /** Walks the parents inside Redis: a chain of any length is one round trip. */
  private static final String CHAIN =
      """
      local chain, key = {}, KEYS[1]
      local turns, characters = tonumber(ARGV[2]), tonumber(ARGV[3])
      while #chain < turns and characters >= 0 do
        local value = redis.call('GET', key)
        local parent, size = string.match(value or '', '^%s\\n([^\\n]*)\\n(%%d+)\\n')
        if not parent then break end
        chain[#chain + 1] = value
        characters = characters - tonumber(size)
        if parent == '' then break end
        key = ARGV[1] .. parent
      end
      return chain
      """
          .formatted(TurnFormat.VERSION);

  private static final String FORGET =
      """
      local start = redis.call('GETRANGE', KEYS[1], 0, 0)
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
      return (start == '' or start == ARGV[1]) and 0 or 1
      """;

  private final SessionConfig.Redis config;
  private final Redis redis;

  RedisTurnStore(Vertx vertx, SessionConfig.Redis config) {
    this.config = config;
    this.redis =
        Redis.createClient(
            vertx,
            new RedisOptions()
                .setConnectionString(config.connection())
                .setMaxPoolSize(config.poolSize())
                .setMaxPoolWaiting(config.waitingMax())
                .setMaxWaitingHandlers(config.waitingMax())
                .setNetClientOptions(
                    new NetClientOptions()
                        .setTcpNoDelay(true)
                        .setTcpKeepAlive(true)
                        .setIdleTimeout((int) config.idleTimeout().toSeconds())
                        .setIdleTimeoutUnit(TimeUnit.SECONDS)
                        .setConnectTimeout((int) config.timeout().toMillis())));
  }

  @Override
  public Future<List<StoredTurn>> chain(TurnKey newest, Allowance allowance) {
    if (allowance.usedUp()) {
      return Future.succeededFuture(List.of());
    }
    Request request =
        Request.cmd(Command.EVAL)
            .arg(CHAIN)
            .arg(1)
            .arg(name(newest))
            .arg(prefix(newest))
            .arg(allowance.turns())
            .arg(allowance.characters());
    return redis.send(request).map(values -> turns(newest, values));
  }

  @Override
  public Future<Integer> keep(List<StoredTurn> turns) {
    List<Request> writes =
        turns.stream()
            .filter(turn -> Allowance.characters(turn) <= config.turnCharactersMax())
            .map(this::write)
            .toList();
    return writes.isEmpty()
        ? Future.succeededFuture(0)
        : redis.batch(writes).map(RedisTurnStore::written);
  }

  @Override
  public Future<Boolean> forget(TurnKey key) {
    Request request =
        Request.cmd(Command.EVAL)
            .arg(FORGET)
            .arg(1)
            .arg(name(key))
            .arg(MARKER)
            .arg(FORGOTTEN_FOR.toMillis());
    return redis.send(request).map(known -> known.toInteger() == 1);
  }

  @Override
  public Future<Void> close() {
    return redis.close();
  }

  private Request write(StoredTurn turn) {
    return Request.cmd(Command.SET)
        .arg(name(TurnKey.of(turn)))
        .arg(TurnFormat.bytes(turn))
        .arg("NX")
        .arg("PX")
        .arg(config.ttl().toMillis());
  }

  private static List<StoredTurn> turns(TurnKey newest, Response values) {
    List<StoredTurn> chain = new ArrayList<>();
    ResponseId next = newest.response();
    for (Response value : values) {
      Optional<StoredTurn> turn =
          TurnFormat.turn(new TurnKey(newest.tenant(), next), value.toBytes());
      if (turn.isEmpty()) {
        break;
      }
      chain.add(turn.get());
      next = turn.get().parent();
    }
    return chain;
  }

  private static int written(List<@Nullable Response> answers) {
    return (int) answers.stream().filter(answer -> answer != null).count();
  }

  private String name(TurnKey key) {
    return prefix(key) + key.response();
  }

  private String prefix(TurnKey key) {
    return config.keyPrefix() + "{" + key.tenant() + "}";
  }
}
