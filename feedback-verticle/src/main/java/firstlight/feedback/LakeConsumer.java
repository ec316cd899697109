package firstlight.feedback;

import firstlight.protocol.Time;
import io.micrometer.core.instrument.Gauge;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.kafka.client.common.TopicPartition;
import io.vertx.kafka.client.consumer.KafkaConsumer;
import io.vertx.kafka.client.consumer.KafkaConsumerRecords;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls Kafka and hands records to the sink of their partition. It polls on while sinks wait for
 * the store, with their partitions paused, so that the group does not take them for dead.
 */
final class LakeConsumer {
  private static final Logger LOG = LoggerFactory.getLogger(LakeConsumer.class);
  private static final Duration POLL = Duration.ofMillis(200);

  /** While a sink works it will want records any moment. */
  private static final Duration POLL_BUSY = Duration.ofMillis(10);

  private static final long LAG_NANOS = 5_000_000_000L;

  private final Vertx vertx;
  private final Time time;
  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Function<TopicPartition, PartitionSink> opener;
  private final FeedbackMetrics metrics;
  private final QuietLog log;
  private final Backoff backoff = new Backoff();
  private final Map<TopicPartition, Held> held = new HashMap<>();
  private final Map<TopicPartition, Long> ends = new HashMap<>();
  private long lagNanos;
  private boolean lagKnown;
  private boolean closed;

  private record Held(PartitionSink sink, List<Gauge> gauges) {}

  LakeConsumer(
      Vertx vertx,
      Time time,
      KafkaConsumer<byte[], byte[]> consumer,
      Function<TopicPartition, PartitionSink> opener,
      FeedbackMetrics metrics) {
    this.vertx = vertx;
    this.time = time;
    this.consumer = consumer;
    this.opener = opener;
    this.metrics = metrics;
    log = new QuietLog(LOG, time);
  }

  Future<Void> start(String topic) {
    consumer.partitionsRevokedHandler(gone -> gone.forEach(this::release));
    // A partition that was lost without a word is given anew: what was open of it is void.
    consumer.partitionsAssignedHandler(given -> given.forEach(this::renew));
    return consumer.subscribe(topic).onSuccess(_ -> poll());
  }

  /** Brings what is open into the lake. The caller limits the time, then calls {@link #close}. */
  Future<Void> drain() {
    closed = true;
    return Future.all(held.values().stream().map(each -> each.sink().drain()).toList()).mapEmpty();
  }

  Future<Void> close() {
    closed = true;
    Set.copyOf(held.keySet()).forEach(this::release);
    return consumer.close();
  }

  private void poll() {
    if (closed) {
      return;
    }
    boolean working = held.values().stream().anyMatch(each -> each.sink().working());
    consumer
        .poll(working ? POLL_BUSY : POLL)
        .onComplete(
            done -> {
              if (done.succeeded()) {
                backoff.reset();
                deliver(done.result());
                choose();
                poll();
              } else {
                metrics.error("poll");
                log.warn("polling Kafka failed", done.cause());
                vertx.setTimer(backoff.nextMillis(), _ -> poll());
              }
            });
  }

  private void deliver(KafkaConsumerRecords<byte[], byte[]> polled) {
    if (closed) {
      return;
    }
    var records = polled.records();
    for (var partition : records.partitions()) {
      sink(new TopicPartition(partition.topic(), partition.partition()))
          .offer(records.records(partition));
    }
    held.values().forEach(each -> each.sink().tick());
    measureLag();
  }

  /** Tells the consumer which partitions the next poll may bring records of. */
  private void choose() {
    Set<TopicPartition> paused = new HashSet<>();
    Set<TopicPartition> resumed = new HashSet<>();
    held.forEach(
        (partition, each) -> (each.sink().wantsRecords() ? resumed : paused).add(partition));
    // They fail where a partition was just taken away; the revoked handler deals with that.
    if (!paused.isEmpty()) {
      consumer.pause(paused);
    }
    if (!resumed.isEmpty()) {
      consumer.resume(resumed);
    }
  }

  private PartitionSink sink(TopicPartition partition) {
    return held.computeIfAbsent(partition, this::hold).sink();
  }

  private Held hold(TopicPartition partition) {
    PartitionSink sink = opener.apply(partition);
    return new Held(
        sink,
        metrics.show(
            partition,
            () -> lag(partition, sink),
            sink::waitSeconds,
            () ->
                sink.newest() == Long.MIN_VALUE
                    ? Double.NaN
                    : (time.epochMillis() - sink.newest()) / 1000.0));
  }

  private double lag(TopicPartition partition, PartitionSink sink) {
    long end = ends.getOrDefault(partition, 0L);
    return sink.next() < 0 ? end : Math.max(0, end - sink.next());
  }

  private void renew(TopicPartition partition) {
    release(partition);
    if (!closed) {
      sink(partition);
    }
  }

  private void release(TopicPartition partition) {
    Held gone = held.remove(partition);
    if (gone != null) {
      gone.sink().discard();
      metrics.hide(gone.gauges());
      ends.remove(partition);
    }
  }

  private void measureLag() {
    long now = time.nanos();
    if (held.isEmpty() || (lagKnown && now - lagNanos < LAG_NANOS)) {
      return;
    }
    lagKnown = true;
    lagNanos = now;
    consumer
        .endOffsets(Set.copyOf(held.keySet()))
        .onSuccess(found -> found.forEach(this::ended))
        .onFailure(failure -> log.warn("the lag is not known", failure));
  }

  /**
   * @param end the first offset that is not readable yet
   */
  private void ended(TopicPartition partition, long end) {
    ends.put(partition, end);
    Held each = held.get(partition);
    if (each != null && each.sink().idle() && each.sink().next() < end) {
      // The ends of transactions have offsets, too, and there is nothing to bring into the lake.
      consumer.position(partition).onSuccess(position -> each.sink().passed(position));
    }
  }
}
