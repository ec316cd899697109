package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Field case B63: whatever Kafka does, the event loop goes on and nothing is promised falsely. */
final class KafkaEventsTest {
  private static final Duration LIMIT = Duration.ofMillis(200);

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final FakeKafka kafka = new FakeKafka(true);

  @AfterEach
  void close() {
    kafka.gate.countDown();
    await(vertx.close());
  }

  @Test
  void events_arrive_with_the_response_as_key_and_accept_says_when() {
    KafkaEvents events = open(config(100), () -> kafka);

    await(on(() -> events.accept(EventDraft.of(EventBufferTest.feedback(1)))));
    on(() -> publish(events, EventBufferTest.response(2, 3)));

    until(() -> kafka.history().size() == 2);
    assertThat(kafka.history())
        .extracting(record -> new String(record.key()))
        .containsExactly("resp_1", "resp_2");
    assertThat(parse(kafka.history().get(1))).isEqualTo(EventBufferTest.response(2, 3));
    assertThat(sent("feedback")).isEqualTo(1);
  }

  @Test
  void a_send_that_blocks_never_blocks_the_event_loop() {
    kafka.gate = new CountDownLatch(1);
    KafkaEvents events = open(config(100), () -> kafka);
    on(() -> publish(events, EventBufferTest.response(1, 0)));
    until(() -> kafka.blocked.get() == 1);

    Future<Void> accepted = on(() -> events.accept(EventDraft.of(EventBufferTest.feedback(2))));
    AtomicInteger ticks = ticking();

    assertAway(accepted);
    assertThat(ticks.get()).isGreaterThan(5);
    kafka.gate.countDown();
    until(() -> kafka.history().size() == 1);
    assertThat(parse(kafka.history().getFirst()).getId()).isEqualTo("1");
  }

  @Test
  void with_nobody_at_the_address_accept_fails_in_time_and_the_loop_goes_on() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    assertAwayAt(port);
  }

  @Test
  void with_a_broker_that_hangs_accept_fails_in_time_and_the_loop_goes_on() throws IOException {
    try (ServerSocket hung = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      assertAwayAt(hung.getLocalPort());
    }
  }

  private void assertAwayAt(int port) {
    EventsConfig config = config("127.0.0.1:" + port, 100);
    KafkaEvents events = open(config, () -> EventProducers.open(config));
    AtomicInteger ticks = ticking();
    for (int i = 0; i < 1000; i++) {
      int number = i;
      on(() -> publish(events, EventBufferTest.response(number, 10)));
    }

    assertAway(on(() -> events.accept(EventDraft.of(EventBufferTest.feedback(1)))));

    assertThat(ticks.get()).isGreaterThan(5);
    assertThat(lost("overflow")).isBetween(900.0, 901.0);
    await(on(events::close));
  }

  @Test
  void what_fails_in_the_middle_is_sent_again_once_kafka_is_back() {
    FakeKafka broken = new FakeKafka(false);
    KafkaEvents events = open(config(100), () -> broken);
    on(() -> publish(events, EventBufferTest.response(1, 0)));
    until(() -> broken.history().size() == 1);

    broken.errorNext(new TimeoutException("away"));
    until(() -> broken.history().size() == 2);
    broken.completeNext();

    until(() -> sent("response") == 1);
    assertThat(broken.history())
        .extracting(record -> parse(record).getId())
        .containsExactly("1", "1");
  }

  @Test
  void what_was_refused_in_time_is_not_sent_later() {
    FakeKafka silent = new FakeKafka(false);
    KafkaEvents events = open(config(100), () -> silent);
    on(() -> publish(events, EventBufferTest.response(1, 0)));
    until(() -> silent.history().size() == 1);

    assertAway(on(() -> events.accept(EventDraft.of(EventBufferTest.feedback(2)))));
    silent.completeNext();

    until(() -> sent("response") == 1);
    await(on(() -> publish(events, EventBufferTest.response(3, 0))));
    until(() -> silent.history().size() == 2);
    assertThat(parse(silent.history().getLast()).getId()).isEqualTo("3");
  }

  @Test
  void a_producer_that_is_of_no_use_any_more_is_replaced() {
    FakeKafka dead = new FakeKafka(false);
    List<FakeKafka> producers = new ArrayList<>(List.of(dead, kafka));
    KafkaEvents events = open(config(100), producers::removeFirst);
    on(() -> publish(events, EventBufferTest.response(1, 0)));
    until(() -> dead.history().size() == 1);

    dead.errorNext(new AuthenticationException("no"));

    until(() -> kafka.history().size() == 1);
    assertThat(dead.closed()).isTrue();
  }

  @Test
  void close_sends_what_is_held() {
    KafkaEvents events = open(config(100), () -> kafka);
    on(
        () -> {
          IntStream.range(0, 50)
              .forEach(i -> events.publish(EventDraft.of(EventBufferTest.response(i, 0))));
          return Future.succeededFuture();
        });

    await(on(events::close));

    assertThat(kafka.history()).hasSize(50);
    assertThat(kafka.closed()).isTrue();
  }

  @Test
  void close_ends_in_time_and_counts_what_it_could_not_send() {
    FakeKafka silent = new FakeKafka(false);
    KafkaEvents events = open(config(100), () -> silent);
    on(() -> publish(events, EventBufferTest.response(1, 0)));
    on(() -> publish(events, EventBufferTest.response(2, 0)));

    await(on(events::close));

    assertThat(lost("closed")).isGreaterThanOrEqualTo(1);
  }

  @Test
  void events_may_be_published_from_any_thread() {
    KafkaEvents events = open(config(100), () -> kafka);

    events.publish(EventDraft.of(EventBufferTest.response(1, 0)));

    until(() -> kafka.history().size() == 1);
  }

  @Test
  void its_settings_have_bounds_that_fit_each_other() {
    Settings settings =
        Settings.parse("k: {waitingBytesMax: 64KiB, eventBytesMax: 20MiB}", _ -> null);

    EventsConfig.read(settings.section("k"));

    assertThat(settings.problems().found()).hasSize(2);
    assertThat(EventsConfig.read(Settings.empty()).topic()).isEqualTo("firstlight.events");
  }

  private KafkaEvents open(EventsConfig config, Callable<Producer<byte[], byte[]>> opener) {
    return await(
        on(
            () ->
                Future.succeededFuture(
                    new KafkaEvents(vertx, config, Time.system(), registry, opener))));
  }

  private static EventsConfig config(int waitingMax) {
    return config("unused:1", waitingMax);
  }

  private static EventsConfig config(String bootstrap, int waitingMax) {
    return new EventsConfig(
        bootstrap, "events", waitingMax, 1 << 20, 10, 64 << 10, LIMIT, Duration.ofMillis(300));
  }

  private static Future<Void> publish(KafkaEvents events, Event event) {
    events.publish(EventDraft.of(event));
    return Future.succeededFuture();
  }

  /** Turns of the same event loop from now on. */
  private AtomicInteger ticking() {
    AtomicInteger ticks = new AtomicInteger();
    context.runOnContext(_ -> vertx.setPeriodic(5, _ -> ticks.incrementAndGet()));
    return ticks;
  }

  private void assertAway(Future<Void> accepted) {
    await(accepted.otherwiseEmpty());
    assertThat(accepted.failed()).isTrue();
    MeshException failure = (MeshException) accepted.cause();
    assertThat(failure.kind()).isEqualTo(FailureKind.UNAVAILABLE);
    assertThat(failure.retryAfterMillis()).isPositive();
  }

  private double sent(String kind) {
    var counter = registry.find("firstlight.events.sent").tag("kind", kind).counter();
    return counter == null ? 0 : counter.count();
  }

  private double lost(String reason) {
    return registry.get("firstlight.events.lost").tag("reason", reason).counter().count();
  }

  private <T> Future<T> on(Callable<Future<T>> action) {
    Promise<T> promise = Promise.promise();
    context.runOnContext(
        _ -> {
          try {
            action.call().onComplete(promise);
          } catch (Exception e) {
            promise.fail(e);
          }
        });
    return promise.future();
  }

  private void until(BooleanSupplier holds) {
    Promise<Void> promise = Promise.promise();
    long timer =
        vertx.setPeriodic(
            5,
            _ -> {
              if (holds.getAsBoolean()) promise.tryComplete();
            });
    await(promise.future());
    vertx.cancelTimer(timer);
  }

  private static <T> T await(Future<T> future) {
    try {
      return future.toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("it did not happen in time", e);
    }
  }

  private static Event parse(ProducerRecord<byte[], byte[]> record) {
    try {
      return Event.parseFrom(record.value());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Kafka's own fake producer, with a gate in front of send, which may block as the real one. */
  private static final class FakeKafka extends MockProducer<byte[], byte[]> {
    private final AtomicInteger blocked = new AtomicInteger();
    private volatile CountDownLatch gate = new CountDownLatch(0);

    FakeKafka(boolean answers) {
      super(answers, null, new ByteArraySerializer(), new ByteArraySerializer());
    }

    // Not synchronized, unlike what it overrides: it waits.
    @Override
    public java.util.concurrent.Future<RecordMetadata> send(
        ProducerRecord<byte[], byte[]> record, Callback callback) {
      if (gate.getCount() > 0) {
        blocked.incrementAndGet();
      }
      try {
        gate.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return super.send(record, callback);
    }
  }
}
