package firstlight.edge;

import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a spool to Kafka, in order and each Event once, on a thread of its own.
 *
 * <p>A transaction holds some Events and the position behind them, so Kafka has both or neither.
 * After whatever failure the producer is thrown away; a new one ends what the old one had begun,
 * and then the position says whether it counts. The position carries a mark of this transaction
 * alone: one that another process left, or that Kafka forgot, is not mistaken for ours.
 *
 * <p>What is known here when the process begins is where the spool was sent to as Kafka or the
 * folder knows, whichever is further; a position in segments that did not exist yet is of Events
 * that were held in memory and are gone.
 */
final class EventForwarder {
  private static final Logger LOG = LoggerFactory.getLogger(EventForwarder.class);
  private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int CAREFUL_FROM = 2;

  private final EventSpool spool;
  private final SpoolReader reader;
  private final SpoolKafka kafka;
  private final EventsConfig config;
  private final Time time;
  private final RandomGenerator random;
  private final SpoolMetrics metrics;
  private final Nap nap;
  private final Backoff backoff;
  private final RefusedRecords refused = new RefusedRecords();
  private @Nullable Producer<byte[], byte[]> producer;
  private boolean failing;
  private boolean transacting;
  // In a row, with a Kafka that could be reached before each.
  private int failedTransactions;
  private boolean resumed;
  private long committed;
  private @Nullable Attempt attempt;
  // Read, but not sent.
  private @Nullable SpooledEvent waiting;
  private volatile long oldestMillis;
  private boolean logged;
  private long loggedNanos;

  /** A transaction of which it is not known yet whether it counts. */
  private record Attempt(List<SpooledEvent> events, OffsetAndMetadata position) {}

  /**
   * @param nap how it waits, and is told to stop
   */
  EventForwarder(
      EventSpool spool, SpoolKafka kafka, EventsConfig config, SpoolTools tools, Nap nap) {
    this.spool = spool;
    this.kafka = kafka;
    this.config = config;
    this.nap = nap;
    time = tools.time();
    random = tools.random().split();
    metrics = tools.metrics();
    reader = new SpoolReader(spool, metrics);
    backoff = new Backoff(random);
    reader.seek(spool.sentBefore());
  }

  /** Sends what comes, until it is told to stop. */
  void run() {
    while (!nap.isOver()) {
      boolean idle = !turn();
      if (nap.isStopping() && (idle || failing)) {
        break;
      }
      if (idle) {
        nap.untilWoken();
      }
    }
    end();
  }

  /** Sends what there is; false: it was told to stop before that was done. */
  boolean drain() {
    boolean more = true;
    while (more && !nap.isStopping()) {
      more = turn();
    }
    end();
    return !more;
  }

  /** Unix time in ms of the oldest Event that Kafka has not got; 0: it has all. */
  long oldestMillis() {
    return oldestMillis;
  }

  /** False: there is nothing to send. */
  private boolean turn() {
    try {
      SpooledEvent first = peek();
      oldestMillis = first == null ? 0 : first.event().getTime();
      if (first == null) {
        return false;
      }
      Producer<byte[], byte[]> to = producer;
      if (to == null) {
        to = connect();
      }
      if (peek() != null) {
        transact(to);
      }
      failing = false;
      backoff.reset();
    } catch (IOException | RuntimeException e) {
      failed(e);
    }
    return true;
  }

  private @Nullable SpooledEvent peek() throws IOException {
    if (waiting == null) {
      waiting = reader.next();
    }
    return waiting;
  }

  private Producer<byte[], byte[]> connect() throws IOException {
    // Kafka's producer splits what is too large together without end where a topic takes less than
    // it puts together.
    Producer<byte[], byte[]> opened = kafka.open(failedTransactions >= CAREFUL_FROM);
    producer = opened;
    Optional<OffsetAndMetadata> known = kafka.position();
    if (!resumed) {
      long elsewhere = known.map(OffsetAndMetadata::offset).orElse(0L);
      committed = Math.max(spool.sentBefore(), Math.min(elsewhere, spool.ownFrom()));
      spool.skip(committed);
      resumed = true;
    } else if (attempt != null
        && known.isPresent()
        && known.get().metadata().equals(attempt.position().metadata())) {
      settle(attempt);
    }
    attempt = null;
    spool.busy(0);
    waiting = null;
    reader.seek(committed);
    return opened;
  }

  private void transact(Producer<byte[], byte[]> to) throws IOException {
    transacting = true;
    to.beginTransaction();
    long end = time.nanos() + config.linger().toNanos();
    long bytes = 0;
    List<SpooledEvent> events = new ArrayList<>();
    while (events.size() < config.transactionEventsMax()
        && bytes < config.transactionBytesMax()
        && !refused.isNew()) {
      SpooledEvent next = peek();
      long left = end - time.nanos();
      if (next != null) {
        waiting = null;
        events.add(next);
        spool.busy(next.position());
        bytes += send(to, next);
      } else if (left > 0 && !nap.isStopping()) {
        nap.untilWoken(left);
      } else {
        break;
      }
    }
    OffsetAndMetadata position =
        new OffsetAndMetadata(events.getLast().next(), Long.toHexString(random.nextLong()));
    Attempt now = new Attempt(events, position);
    attempt = now;
    kafka.note(to, position);
    to.commitTransaction();
    settle(now);
    transacting = false;
    failedTransactions = 0;
  }

  /** Returns its bytes. */
  private int send(Producer<byte[], byte[]> to, SpooledEvent event) {
    Event fitting = refused.fitting(event);
    if (fitting == null) {
      return 0;
    }
    byte[] value = fitting.toByteArray();
    to.send(
        new ProducerRecord<>(config.topic(), EventRecords.key(fitting), value),
        (_, failure) -> {
          if (failure != null) {
            refused.note(event.position(), failure);
          }
        });
    return value.length;
  }

  /** It counts. */
  private void settle(Attempt sent) {
    attempt = null;
    committed = sent.position().offset();
    sent.events().forEach(event -> refused.count(event, metrics));
    spool.sent(sent.events(), committed);
    spool.busy(0);
  }

  private void failed(Exception failure) {
    // What may have been committed is not given up as lost before that is known.
    spool.busy(attempt == null ? 0 : attempt.events().getLast().position());
    if (producer != null) {
      metrics.aborted();
    }
    waiting = null;
    reader.seek(committed);
    if (refused.isNew()) {
      // What was refused is sent differently now, so there is nothing to wait for.
      refused.learn();
      if (transacting && producer != null && isAborted(producer)) {
        transacting = false;
        attempt = null;
        spool.busy(0);
        return;
      }
    } else {
      failing = true;
      warn(failure);
    }
    giveUp();
    if (failing) {
      nap.rest(backoff.nextNanos());
    }
  }

  /** Whether the transaction is known to have come to nothing, and the producer is still of use. */
  private static boolean isAborted(Producer<byte[], byte[]> producer) {
    try {
      producer.abortTransaction();
      return true;
    } catch (RuntimeException _) {
      return false;
    }
  }

  private void giveUp() {
    failedTransactions = transacting ? failedTransactions + 1 : 0;
    transacting = false;
    Producer<byte[], byte[]> old = producer;
    if (old != null) {
      producer = null;
      SpoolKafka.close(old);
    }
  }

  private void end() {
    if (producer != null) {
      SpoolKafka.close(producer);
      producer = null;
    }
    try {
      reader.close();
    } catch (IOException e) {
      LOG.debug("A file of Events was not closed: {}", e.toString());
    }
  }

  private void warn(Exception failure) {
    long now = time.nanos();
    if (!nap.isStopping() && (!logged || now - loggedNanos >= LOG_NANOS)) {
      logged = true;
      loggedNanos = now;
      LOG.warn("Events wait for Kafka: {}", failure.toString());
    }
  }
}
