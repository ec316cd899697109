package firstlight.session;

import static firstlight.session.Samples.PLENTY;
import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.StoredTurn;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RealServices.Extension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class RedisTurnStoreTest extends TurnStoreContract {
  private final Vertx vertx = Vertx.vertx();
  private final RedisTurnStore store;
  private final Redis redis;

  RedisTurnStoreTest(RealServices services) {
    SessionConfig.Redis given = services.config().redis();
    redis = Redis.createClient(vertx, given.connection());
    store =
        new RedisTurnStore(
            vertx,
            new SessionConfig.Redis(
                true,
                given.connection(),
                "test:",
                given.ttl(),
                given.poolSize(),
                given.waitingMax(),
                given.timeout(),
                given.idleTimeout(),
                2_000_000));
  }

  @BeforeEach
  void empty() {
    result(redis.send(Request.cmd(Command.FLUSHALL)));
  }

  @AfterAll
  void close() {
    result(vertx.close());
  }

  @Override
  TurnStore store() {
    return store;
  }

  @Test
  void a_turn_lies_under_its_tenant_and_has_an_end() {
    result(store.keep(List.of(turn("acme", "r1", null))));
    assertThat(ask(Command.KEYS, "*").toString()).isEqualTo("[test:{acme}r1]");
    assertThat(ask(Command.PTTL, "test:{acme}r1").toLong()).isBetween(86_000_000L, 86_400_000L);
  }

  @Test
  void a_forgotten_turn_cannot_be_put_back_by_a_look_up_that_read_it_before() {
    result(store.keep(List.of(turn("acme", "r1", null))));
    assertThat(result(store.forget(key("acme", "r1")))).isTrue();
    assertThat(result(store.keep(List.of(turn("acme", "r1", null))))).isZero();
    assertThat(result(store.chain(key("acme", "r1"), PLENTY))).isEmpty();
    assertThat(ask(Command.PTTL, "test:{acme}r1").toLong()).isBetween(50_000L, 60_000L);
  }

  @Test
  void a_turn_that_is_too_large_is_left_out_and_the_others_are_kept() {
    StoredTurn large = turn("acme", "large", null, "x".repeat(2_000_001));
    StoredTurn small = turn("acme", "small", null);
    assertThat(result(store.keep(List.of(large, small)))).isEqualTo(1);
    assertThat(result(store.chain(key("acme", "small"), PLENTY))).containsExactly(small);
    assertThat(result(store.chain(key("acme", "large"), PLENTY))).isEmpty();
  }

  @Test
  void what_cannot_be_read_ends_the_chain() {
    result(store.keep(Samples.conversation("acme", 4)));
    ask(Command.SET, "test:{acme}r2", "2\nr1\n10\nof a later version");
    assertThat(result(store.chain(key("acme", "r4"), PLENTY))).hasSize(2);
    ask(Command.SET, "test:{acme}r3", "1\nr2\n10\ndamaged");
    assertThat(result(store.chain(key("acme", "r4"), PLENTY))).hasSize(1);
    ask(Command.SET, "test:{acme}r4", "");
    assertThat(result(store.chain(key("acme", "r4"), PLENTY))).isEmpty();
  }

  @Test
  void more_requests_than_connections_are_all_answered() {
    result(store.keep(Samples.conversation("acme", 10)));
    List<Future<List<StoredTurn>>> answers =
        IntStream.range(0, 500).mapToObj(_ -> store.chain(key("acme", "r10"), PLENTY)).toList();
    assertThat(answers).allSatisfy(answer -> assertThat(result(answer)).hasSize(10));
  }

  private Response ask(Command command, String... values) {
    Request request = Request.cmd(command);
    for (String value : values) {
      request.arg(value);
    }
    return result(redis.send(request));
  }
}
