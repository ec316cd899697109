package firstlight.session;

import static firstlight.session.Samples.PLENTY;
import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static firstlight.session.Wait.failure;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.MeshException;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The other end of every pooled connection is gone without a word; new connections work. */
@ExtendWith(RealServices.Extension.class)
final class DeadConnectionsTest {
  private static final Duration IDLE = Duration.ofSeconds(1);
  private static final Duration TIMEOUT = Duration.ofMillis(200);
  private static final Duration RECOVERS_WITHIN = Duration.ofSeconds(5);

  private final Vertx vertx = Vertx.vertx();
  private final SessionConfig config;

  DeadConnectionsTest(RealServices services) {
    config = services.config();
  }

  @AfterEach
  void close() {
    result(vertx.close());
  }

  @Test
  void the_only_connection_to_postgresql_is_replaced() {
    FreezingProxy proxy = new FreezingProxy(vertx, config.postgres().port());
    SessionConfig.Postgres it = config.postgres().at("127.0.0.1", proxy.port());
    Time time = Time.system();
    PostgresTurnStore store =
        new PostgresTurnStore(
            new PostgresRequests(
                vertx,
                new PostgresConnections(
                    vertx,
                    new SessionConfig.Postgres(
                        it.host(),
                        it.port(),
                        it.database(),
                        it.user(),
                        it.password(),
                        1,
                        10,
                        TIMEOUT.multipliedBy(5),
                        IDLE,
                        it.lifetime(),
                        true),
                    time),
                new Outage(time, TIMEOUT, TIMEOUT),
                new SessionMeters(new SimpleMeterRegistry(), time)));
    result(new Schema(it).migrate(vertx));
    proxy.freeze();
    result(store.chain(key("frozen", "r1"), PLENTY));
    proxy.freeze();
    assertThat(failure(store.chain(key("frozen", "r1"), PLENTY))).isInstanceOf(MeshException.class);
    Wait.until(
        vertx, RECOVERS_WITHIN, () -> store.chain(key("frozen", "r1"), PLENTY).map(List::isEmpty));
  }

  @Test
  void the_only_connection_to_redis_is_replaced() {
    SessionConfig.Redis given = config.redis();
    FreezingProxy proxy = new FreezingProxy(vertx, URI.create(given.connection()).getPort());
    RedisTurnStore store =
        new RedisTurnStore(
            vertx,
            new SessionConfig.Redis(
                true,
                "redis://127.0.0.1:" + proxy.port(),
                "frozen:",
                given.ttl(),
                1,
                10,
                TIMEOUT,
                IDLE,
                given.turnCharactersMax()));
    result(store.keep(List.of(turn("frozen", "r1", null))));
    proxy.freeze();
    failure(
        store
            .chain(key("frozen", "r1"), PLENTY)
            .timeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS));
    Wait.until(
        vertx,
        RECOVERS_WITHIN,
        () ->
            store
                .chain(key("frozen", "r1"), PLENTY)
                .timeout(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                .map(chain -> chain.size() == 1));
  }
}
