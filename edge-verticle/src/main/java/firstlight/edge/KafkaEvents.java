package firstlight.edge;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.kafka.client.producer.KafkaProducer;
import io.vertx.kafka.client.producer.KafkaProducerRecord;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events to Kafka. Lives on the event loop it was made on.
 *
 * <p>Kafka's {@code send} may block: the first time for the topic's metadata, and when its buffer
 * is full. Vert.x calls it on a worker thread, in order, from a queue without bounds. So the bounds
 * are here: what is not acknowledged is held in an {@link EventBuffer}, only so many are handed to
 * the producer, and after a failure one at a time, at growing intervals, until one gets through.
 * Once it took one, Kafka's producer itself tries again for minutes, which doubles nothing.
 *
 * <p>What does not fit is lost and counted. A spool on the disk is to take its place here: at
 * {@link EventBuffer#add}.
 */
final class KafkaEvents implements Events {
  private static final Logger LOG = LoggerFactory.getLogger(KafkaEvents.class);
  private static final long BACKOFF_FIRST_MS = 100;
  private static final long BACKOFF_MAX_MS = 5_000;
  private static final int DOUBLINGS_MAX = 10;
  private static final long LOG_NANOS = 10_000_000_000L;
  private static final long PRODUCER_CLOSE_MS = 200;

  /** A producer that is being made when the stop comes is waited for: it can not be ended. */
  private static final long OPENING_MS_MAX = 1_000;

  private final Vertx vertx;
  private final Context context;
  private final EventsConfig config;
  private final Time time;
  private final MeterRegistry registry;
  private final Callable<Producer<byte[], byte[]>> opener;
  private final EventBuffer buffer;
  private final Map<EventBuffer.Entry, Promise<Void>> promises = new HashMap<>();
  private final Promise<Void> emptied = Promise.promise();
  private @Nullable KafkaProducer<byte[], byte[]> producer;
  private int inFlight;
  private int failures;
  private boolean proven;
  private boolean pausing;
  private Future<?> opening = Future.succeededFuture();
  private boolean closing;
  private boolean closed;
  private boolean logged;
  private long loggedNanos;

  KafkaEvents(Vertx vertx, EventsConfig config, Time time, MeterRegistry registry) {
    this(vertx, config, time, registry, () -> EventProducers.open(config));
  }

  /**
   * @param opener makes a producer; it may block
   */
  KafkaEvents(
      Vertx vertx,
      EventsConfig config,
      Time time,
      MeterRegistry registry,
      Callable<Producer<byte[], byte[]>> opener) {
    this.vertx = vertx;
    this.config = config;
    this.time = time;
    this.registry = registry;
    this.opener = opener;
    context = vertx.getOrCreateContext();
    buffer = new EventBuffer(config.waitingMax(), config.waitingBytesMax());
    open();
  }

  @Override
  public void publish(EventDraft draft) {
    Event event = draft.build();
    if (Vertx.currentContext() == context) {
      add(new EventBuffer.Entry(fitting(event), false));
    } else {
      context.runOnContext(_ -> add(new EventBuffer.Entry(fitting(event), false)));
    }
  }

  @Override
  public Future<Void> accept(EventDraft draft) {
    if (closing || pausing) {
      return Future.failedFuture(away());
    }
    EventBuffer.Entry entry = new EventBuffer.Entry(draft.build(), true);
    Promise<Void> promise = Promise.promise();
    promises.put(entry, promise);
    long timer = vertx.setTimer(config.acceptLimit().toMillis(), _ -> finish(entry, away()));
    add(entry);
    return promise.future().onComplete(_ -> vertx.cancelTimer(timer));
  }

  @Override
  public Future<Void> close() {
    if (closing) {
      return emptied.future();
    }
    closing = true;
    long timer = vertx.setTimer(config.closeLimit().toMillis(), _ -> emptied.tryComplete());
    settle();
    return emptied
        .future()
        .compose(
            _ -> {
              vertx.cancelTimer(timer);
              closed = true;
              giveUp();
              return producer == null
                  ? opening.<Void>mapEmpty().timeout(OPENING_MS_MAX, MILLISECONDS).otherwiseEmpty()
                  : producer.close(PRODUCER_CLOSE_MS).otherwiseEmpty();
            });
  }

  private void add(EventBuffer.Entry entry) {
    if (closing) {
      lost(entry.event(), "closed");
      return;
    }
    int shortened = buffer.shortened();
    if (!buffer.add(entry, dropped -> lost(dropped, "overflow"))) {
      finish(entry, away());
    }
    shortened("detail", buffer.shortened() - shortened);
    pump();
  }

  private void open() {
    opening =
        vertx
            .executeBlocking(opener, false)
            .onSuccess(
                opened -> {
                  if (closed) {
                    opened.close(Duration.ZERO);
                    return;
                  }
                  // Each send's own future tells; without a handler Vert.x logs an error besides.
                  producer =
                      KafkaProducer.<byte[], byte[]>create(vertx, opened).exceptionHandler(_ -> {});
                  pump();
                })
            .onFailure(
                failure -> {
                  warn(failure);
                  pause(this::open);
                });
  }

  private void pump() {
    KafkaProducer<byte[], byte[]> ready = producer;
    int window = proven ? config.inFlightMax() : 1;
    while (ready != null && !pausing && !closed && inFlight < window) {
      EventBuffer.Entry entry = buffer.take();
      if (entry == null) {
        break;
      }
      inFlight++;
      ready
          .send(record(entry.event()))
          .onComplete(
              done -> {
                inFlight--;
                if (done.succeeded()) {
                  sent(entry);
                } else {
                  failed(entry, done.cause());
                }
                settle();
                pump();
              });
    }
  }

  private void sent(EventBuffer.Entry entry) {
    proven = true;
    failures = 0;
    buffer.release(entry);
    registry
        .counter("firstlight.events.sent", "kind", EventRecords.kind(entry.event()))
        .increment();
    finish(entry, null);
  }

  private void failed(EventBuffer.Entry entry, Throwable failure) {
    warn(failure);
    if (failure instanceof RecordTooLargeException) {
      buffer.release(entry);
      lost(entry.event(), "too_large");
      finish(entry, away());
      return;
    }
    if (closed && !entry.awaited()) {
      buffer.release(entry);
      lost(entry.event(), "closed");
    } else if (entry.awaited()) {
      // Who waits for it is told, and sends it again.
      buffer.release(entry);
      finish(entry, away());
    } else {
      buffer.putBack(entry);
    }
    proven = false;
    boolean usable = failure instanceof RetriableException;
    if (!usable && producer != null) {
      producer.close(PRODUCER_CLOSE_MS);
      producer = null;
      pause(this::open);
    } else if (usable && !pausing) {
      pause(this::pump);
    }
  }

  private void pause(Runnable then) {
    if (closed) {
      return;
    }
    pausing = true;
    long wait = Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS << Math.min(failures, DOUBLINGS_MAX));
    failures++;
    vertx.setTimer(
        wait,
        _ -> {
          pausing = false;
          then.run();
        });
  }

  /** Ends the waiting for an Event. Its room is given back unless it is on its way. */
  private void finish(EventBuffer.Entry entry, @Nullable MeshException failure) {
    Promise<Void> promise = promises.remove(entry);
    if (entry.queued()) {
      buffer.release(entry);
    }
    if (promise != null && failure == null) {
      promise.tryComplete();
    } else if (promise != null) {
      promise.tryFail(failure);
    }
  }

  private void settle() {
    if (closing && buffer.count() == 0) {
      emptied.tryComplete();
    }
  }

  private void giveUp() {
    for (EventBuffer.Entry entry : buffer.held()) {
      lost(entry.event(), "closed");
      finish(entry, away());
    }
  }

  private Event fitting(Event event) {
    EventRecords.Fitted fitted = EventRecords.fit(event, config.eventBytesMax());
    if (fitted.cut() != EventRecords.Cut.NOTHING) {
      shortened(fitted.cut().name().toLowerCase(Locale.ROOT), 1);
    }
    return fitted.event();
  }

  private KafkaProducerRecord<byte[], byte[]> record(Event event) {
    return KafkaProducerRecord.create(config.topic(), EventRecords.key(event), event.toByteArray());
  }

  private MeshException away() {
    return new MeshException(
        FailureKind.UNAVAILABLE,
        "events_unavailable",
        "It can not be kept at the moment. Send it again, with the same id.",
        null,
        BACKOFF_MAX_MS);
  }

  private void lost(Event event, String reason) {
    registry
        .counter("firstlight.events.lost", "kind", EventRecords.kind(event), "reason", reason)
        .increment();
  }

  private void shortened(String what, int number) {
    if (number > 0) {
      registry.counter("firstlight.events.shortened", "what", what).increment(number);
    }
  }

  private void warn(Throwable failure) {
    long now = time.nanos();
    if (!logged || now - loggedNanos >= LOG_NANOS) {
      logged = true;
      loggedNanos = now;
      LOG.warn("Events wait for Kafka: {}", failure.toString());
    }
  }
}
