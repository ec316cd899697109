package firstlight.feedback;

import firstlight.protocol.Time;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.kafka.client.common.TopicPartition;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One partition, as long as this member of the group has it. Lives on the event loop; does one
 * thing at a time: take records into the open batch, bring a batch into the lake and commit it, or
 * go back to where a batch began. Whatever fails is tried again until the partition is taken away.
 */
final class PartitionSink {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionSink.class);

  /** Cuts kept behind the commit, for a reader that is late (see {@link LakeUpload}). */
  private static final int CUTS_KEPT = 8;

  private static final long NOWHERE = -1;

  private final TopicPartition partition;
  private final String topicId;
  private final Parts parts;
  private final Backoff backoff = new Backoff();
  private final QuietLog log;
  private final Deque<ConsumerRecord<byte[], byte[]>> pending = new ArrayDeque<>();
  private final Deque<BatchName> cuts = new ArrayDeque<>();
  private @Nullable OpenBatch batch;
  private @Nullable Promise<Void> drained;
  private boolean busy;
  private boolean gone;
  private boolean placed;
  private boolean cutKnown;
  private boolean deadSent;
  private long timer = NOWHERE;
  private long goBackTo = NOWHERE;
  private long next = NOWHERE;
  private long newest = Long.MIN_VALUE;
  private long oldest = NOWHERE;

  /** What all sinks of a verticle share. */
  record Parts(
      Vertx vertx,
      Time time,
      WorkerExecutor worker,
      LakeUpload upload,
      OpenBatch.Schemas schemas,
      DeadLetters dead,
      Offsets offsets,
      FeedbackMetrics metrics,
      FeedbackConfig.Files limits,
      Path spool) {}

  PartitionSink(TopicPartition partition, String topicId, Parts parts) {
    this.partition = partition;
    this.topicId = topicId;
    this.parts = parts;
    log = new QuietLog(LOG, parts.time());
  }

  /** Takes what a poll brought. */
  void offer(List<ConsumerRecord<byte[], byte[]>> records) {
    if (gone || drained != null || goBackTo != NOWHERE || records.isEmpty()) {
      return;
    }
    if (oldest == NOWHERE) {
      oldest = sent(records.getFirst());
    }
    pending.addAll(records);
    work();
  }

  /** To be called now and then, so that a batch closes by its age. */
  void tick() {
    work();
  }

  /** Whether a poll should bring records of this partition. */
  boolean wantsRecords() {
    return !busy && timer == NOWHERE && pending.isEmpty() && goBackTo == NOWHERE;
  }

  /** Whether it will soon want records again. */
  boolean working() {
    return busy;
  }

  /** Whether all that it was given is in the lake. */
  boolean idle() {
    return placed && !busy && batch == null && pending.isEmpty() && goBackTo == NOWHERE;
  }

  /** There is no record before this offset that it was not given. */
  void passed(long offset) {
    if (idle()) {
      next = Math.max(next, offset);
    }
  }

  /** How long the oldest record that is not in the lake has been on Kafka; 0 when there is none. */
  double waitSeconds() {
    return oldest == NOWHERE ? 0 : (parts.time().epochMillis() - oldest) / 1000.0;
  }

  /** Unix time, ms, at which a record came to Kafka, as far as that can be. */
  private long sent(ConsumerRecord<byte[], byte[]> record) {
    long now = parts.time().epochMillis();
    return record.timestamp() <= 0 ? now : Math.min(now, record.timestamp());
  }

  /** The first offset that is not in the lake; -1 before that is known. */
  long next() {
    return next;
  }

  /** Unix time, ms, of the newest visible Event; Long.MIN_VALUE before the first. */
  long newest() {
    return newest;
  }

  /** Takes no more records and completes when what is open is in the lake. */
  Future<Void> drain() {
    drained = Promise.promise();
    Future<Void> future = drained.future();
    pending.clear();
    work();
    return future;
  }

  /** The partition is not ours any more. What is not committed is somebody else's. */
  void discard() {
    gone = true;
    parts.vertx().cancelTimer(timer);
    pending.clear();
    if (!busy) {
      drop();
    }
  }

  private void work() {
    if (busy || gone || timer != NOWHERE) {
      return;
    }
    if (!placed) {
      step(this::place);
    } else if (goBackTo != NOWHERE) {
      step(this::goBack);
    } else if (batch != null && closes(batch)) {
      step(this::flush);
    } else if (!pending.isEmpty()) {
      step(this::append);
    } else if (drained != null) {
      drained.tryComplete();
    }
  }

  private boolean closes(OpenBatch open) {
    return open.complete()
        || open.roller().due(parts.time().nanos())
        || (drained != null && open.roller().mayClose());
  }

  private void step(Supplier<Future<Void>> action) {
    busy = true;
    action
        .get()
        .onComplete(
            done -> {
              busy = false;
              if (gone) {
                drop();
              } else if (done.succeeded()) {
                backoff.reset();
                work();
              } else {
                pause(done.cause());
              }
            });
  }

  private void pause(Throwable failure) {
    log.warn("%s-%d waits".formatted(partition.getTopic(), partition.getPartition()), failure);
    timer =
        parts
            .vertx()
            .setTimer(
                backoff.nextMillis(),
                _ -> {
                  timer = NOWHERE;
                  work();
                });
  }

  /**
   * Where the partition goes on: the tables may know more than the group. Kafka forgets the place
   * of a group that was away for long, and a sink may have died between its append and its commit.
   */
  private Future<Void> place() {
    return parts
        .offsets()
        .committed(partition)
        .onFailure(_ -> parts.metrics().error("commit"))
        .compose(
            committed ->
                blocking("upload", () -> parts.upload().place(topicId, partition.getPartition()))
                    .map(first -> placeAt(committed, first)));
  }

  private @Nullable Void placeAt(long committed, long first) {
    next = Math.max(committed, first);
    placed = true;
    if (first > committed) {
      restart(first);
    }
    return null;
  }

  private Future<Void> append() {
    return open(pending.getFirst().offset())
        .compose(
            open -> {
              List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>(pending);
              return blocking("write", () -> open.append(records))
                  .onFailure(_ -> restart(open))
                  .onSuccess(this::forget);
            })
        .mapEmpty();
  }

  private void forget(int taken) {
    // A drain or a discard may have emptied it meanwhile.
    for (int i = 0; i < taken && !pending.isEmpty(); i++) {
      pending.removeFirst();
    }
  }

  private Future<OpenBatch> open(long first) {
    if (batch != null) {
      return Future.succeededFuture(batch);
    }
    BatchName name = new BatchName(topicId, partition.getTopic(), partition.getPartition(), first);
    Future<Long> cut =
        cutKnown
            ? Future.succeededFuture(ParquetRoller.NO_CUT)
            : blocking("upload", () -> parts.upload().cut(name));
    return cut.map(
        end -> {
          cutKnown = true;
          ParquetRoller roller = new ParquetRoller(parts.limits(), end, parts.time().nanos());
          OpenBatch open =
              new OpenBatch(
                  name, roller, parts.schemas(), parts.spool(), parts.limits().rowGroupBytes());
          batch = open;
          return open;
        });
  }

  private Future<Void> flush() {
    OpenBatch open = batch;
    if (open == null) {
      return Future.succeededFuture();
    }
    return blocking("write", open::finish)
        .onFailure(_ -> restart(open))
        .compose(_ -> bury(open))
        .compose(_ -> upload(open))
        .compose(end -> end == open.roller().last() ? commit(open) : restart(open));
  }

  private Future<Void> bury(OpenBatch open) {
    if (deadSent || open.dead().isEmpty()) {
      return Future.succeededFuture();
    }
    return parts
        .dead()
        .send(open.dead())
        .onFailure(_ -> parts.metrics().error("dead_letter"))
        .onSuccess(
            _ -> {
              deadSent = true;
              open.dead().forEach(dead -> parts.metrics().dead(dead.reason()));
            });
  }

  private Future<Long> upload(OpenBatch open) {
    return parts
        .offsets()
        .committed(partition)
        .onFailure(_ -> parts.metrics().error("commit"))
        .compose(
            committed -> {
              if (committed == open.roller().last() + 1) {
                // It went well the last time, only the answer was lost.
                return Future.succeededFuture(open.roller().last());
              }
              if (committed > open.name().first()) {
                // Another member had the partition meanwhile. If it is ours, go on from there.
                restart(committed);
                return Future.failedFuture(new IllegalStateException("the partition was away"));
              }
              return blocking("upload", () -> parts.upload().upload(open));
            });
  }

  private Future<Void> commit(OpenBatch open) {
    if (gone) {
      return Future.succeededFuture();
    }
    long end = open.roller().last() + 1;
    return parts
        .offsets()
        .commit(partition, end)
        .onFailure(_ -> parts.metrics().error("commit"))
        .onSuccess(_ -> settle(open, end));
  }

  private void settle(OpenBatch open, long end) {
    next = end;
    newest = Math.max(newest, open.newest());
    oldest = pending.isEmpty() ? NOWHERE : sent(pending.getFirst());
    open.files().forEach(parts.metrics()::visible);
    drop();
    if (!open.files().isEmpty()) {
      cuts.addLast(open.name());
    }
    if (cuts.size() > CUTS_KEPT) {
      BatchName old = cuts.removeFirst();
      blocking(
          "upload",
          () -> {
            parts.upload().forget(old);
            return true;
          });
    }
  }

  /** Gives the batch up, to read its records again from where it began. */
  private Future<Void> restart(OpenBatch open) {
    return restart(open.name().first());
  }

  private Future<Void> restart(long offset) {
    goBackTo = offset;
    cutKnown = false;
    pending.clear();
    drop();
    return Future.succeededFuture();
  }

  private Future<Void> goBack() {
    // Records of a poll that began before are refused until this completes, and come before it.
    return parts.offsets().seek(partition, goBackTo).onSuccess(_ -> goBackTo = NOWHERE);
  }

  private void drop() {
    OpenBatch open = batch;
    batch = null;
    deadSent = false;
    if (open != null) {
      submit(
          () -> {
            open.discard();
            return true;
          });
    }
  }

  private <T> Future<T> blocking(String step, Callable<T> call) {
    return submit(call).onFailure(_ -> parts.metrics().error(step));
  }

  private <T> Future<T> submit(Callable<T> call) {
    try {
      return parts.worker().executeBlocking(call, false);
    } catch (RejectedExecutionException e) {
      // The sink has stopped, and its spool goes with it.
      return Future.failedFuture(e);
    }
  }
}
