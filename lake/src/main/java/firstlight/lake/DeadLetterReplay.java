package firstlight.lake;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Sends dead letters that this version understands back to the topic of Events, with their old key,
 * each once, however often and by however many it is run. Those that it does not understand stay
 * where they are, for a later version. Blocks, for as long as it takes to read the dead-letter
 * topic.
 *
 * <p>A letter and the note that it was replayed, which goes to the dead-letter topic, are one
 * transaction of Kafka. A replay that begins ends one that still runs, and reads all notes before
 * it sends anything.
 */
public final class DeadLetterReplay {
  /**
   * In the header of a note: the offset, in the same partition, of the letter that was replayed.
   */
  static final String REPLAYED = "firstlight-replayed";

  /** Why a letter stays whose value was too large to go along. */
  static final String LEFT_OUT = "left_out";

  private static final Duration POLL = Duration.ofMillis(500);

  /** Polls in a row that may bring nothing before Kafka is taken to be away. */
  private static final int SILENT_POLLS_MAX = 60;

  /** Bounds what one poll holds in memory, and what one transaction holds. */
  private static final int POLL_RECORDS = 500;

  private static final int REQUEST_BYTES = 16 << 20;
  private static final int CALL_MS = 30_000;

  private final Topics topics;
  private final Map<TopicPartition, Set<Long>> replayed = new HashMap<>();
  private final Map<String, Long> left = new TreeMap<>();
  private long sent;

  /**
   * Where the letters are, and where they go.
   *
   * @param bootstrap one or more host:port, separated by commas
   */
  public record Topics(String bootstrap, String events, String dead) {}

  /**
   * What was done.
   *
   * @param replayed letters sent back by this run
   * @param before letters that were sent back earlier
   * @param left letters that stay, by the reason for it: a word of {@link EventDecoder.Poison} or
   *     {@code left_out}
   */
  public record Outcome(long replayed, long before, Map<String, Long> left) {}

  private DeadLetterReplay(Topics topics) {
    this.topics = topics;
  }

  /**
   * Replays what is on the dead-letter topic when it begins.
   *
   * @throws IOException Kafka is away, or another replay began; what was sent until then stays sent
   */
  public static Outcome run(Topics topics) throws IOException {
    try {
      return new DeadLetterReplay(topics).replay();
    } catch (KafkaException e) {
      throw new IOException("Kafka: " + e.getMessage(), e);
    }
  }

  private Outcome replay() throws IOException {
    try (KafkaProducer<byte[], byte[]> producer = producer();
        KafkaConsumer<byte[], byte[]> consumer = consumer()) {
      producer.initTransactions();
      List<TopicPartition> partitions =
          consumer.partitionsFor(topics.dead()).stream()
              .map(each -> new TopicPartition(each.topic(), each.partition()))
              .toList();
      consumer.assign(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      read(consumer, ends, records -> records.forEach(this::remember));
      long before = replayed.values().stream().mapToLong(Set::size).sum();
      read(consumer, ends, records -> send(producer, ends, records));
      return new Outcome(sent, before, Map.copyOf(left));
    }
  }

  /** Reads from the beginning to the ends. */
  private static void read(
      KafkaConsumer<byte[], byte[]> consumer,
      Map<TopicPartition, Long> ends,
      Consumer<ConsumerRecords<byte[], byte[]>> taker)
      throws IOException {
    consumer.seekToBeginning(ends.keySet());
    int silent = 0;
    while (ends.entrySet().stream()
        .anyMatch(each -> consumer.position(each.getKey()) < each.getValue())) {
      ConsumerRecords<byte[], byte[]> records = consumer.poll(POLL);
      silent = records.isEmpty() ? silent + 1 : 0;
      if (silent > SILENT_POLLS_MAX) {
        throw new IOException("Kafka sends nothing of the dead letters");
      }
      taker.accept(records);
    }
  }

  private void remember(ConsumerRecord<byte[], byte[]> record) {
    Header note = record.headers().lastHeader(REPLAYED);
    if (note != null) {
      long offset = Long.parseLong(new String(note.value(), StandardCharsets.US_ASCII));
      replayed.computeIfAbsent(partition(record), _ -> new HashSet<>()).add(offset);
    }
  }

  private void send(
      KafkaProducer<byte[], byte[]> producer,
      Map<TopicPartition, Long> ends,
      ConsumerRecords<byte[], byte[]> records) {
    producer.beginTransaction();
    long good = 0;
    for (ConsumerRecord<byte[], byte[]> record : records) {
      boolean old =
          record.offset() >= ends.get(partition(record))
              || record.headers().lastHeader(REPLAYED) != null
              || replayed.getOrDefault(partition(record), Set.of()).contains(record.offset());
      if (!old && send(producer, record)) {
        good++;
      }
    }
    producer.commitTransaction();
    sent += good;
  }

  private boolean send(
      KafkaProducer<byte[], byte[]> producer, ConsumerRecord<byte[], byte[]> letter) {
    String reason = reason(letter);
    if (reason != null) {
      left.merge(reason, 1L, Long::sum);
      return false;
    }
    producer.send(new ProducerRecord<>(topics.events(), letter.key(), letter.value()));
    ProducerRecord<byte[], byte[]> note =
        new ProducerRecord<>(topics.dead(), letter.partition(), letter.key(), null);
    note.headers()
        .add(REPLAYED, Long.toString(letter.offset()).getBytes(StandardCharsets.US_ASCII));
    producer.send(note);
    return true;
  }

  /** Why a letter stays; null: it is an Event. */
  private static @Nullable String reason(ConsumerRecord<byte[], byte[]> letter) {
    if (letter.headers().lastHeader(DeadLetter.LEFT_OUT) != null) {
      return LEFT_OUT;
    }
    return switch (EventDecoder.decode(letter.value())) {
      case EventDecoder.Good _ -> null;
      case EventDecoder.Bad bad -> bad.reason().word();
    };
  }

  private static TopicPartition partition(ConsumerRecord<byte[], byte[]> record) {
    return new TopicPartition(record.topic(), record.partition());
  }

  private KafkaConsumer<byte[], byte[]> consumer() {
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers",
            topics.bootstrap(),
            "enable.auto.commit",
            false,
            "isolation.level",
            "read_committed",
            "max.poll.records",
            POLL_RECORDS,
            "default.api.timeout.ms",
            CALL_MS);
    return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  private KafkaProducer<byte[], byte[]> producer() {
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers",
            topics.bootstrap(),
            // One name for all: Kafka ends a transaction of whoever had it before.
            "transactional.id",
            "firstlight.replay." + topics.dead(),
            "compression.type",
            "zstd",
            "max.request.size",
            REQUEST_BYTES,
            "max.block.ms",
            CALL_MS);
    return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
  }
}
