package firstlight.feedback;

import firstlight.lake.LakeConfig;
import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.WorkerExecutor;
import io.vertx.kafka.client.common.TopicPartition;
import io.vertx.kafka.client.consumer.KafkaConsumer;
import io.vertx.kafka.client.producer.KafkaProducer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sink. Deploy several instances, here and on other nodes, to share the topic's partitions.
 *
 * <p>It starts at once, whether Kafka and the store are there or not, and goes on trying. A stop
 * uploads what is open within a limit; what is not uploaded is read again by the next one.
 */
public final class FeedbackVerticle extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(FeedbackVerticle.class);
  private static final int WORKERS = 2;
  private static final Duration PRODUCER_CLOSE = Duration.ofSeconds(1);

  private final FeedbackConfig config;
  private final LakeConfig lake;
  private final Time time;
  private final IdSource ids;
  private final FeedbackMetrics metrics;
  private final Storage storage;
  private final Backoff backoff = new Backoff();
  private final QuietLog log;
  private final Attempt attempt = new Attempt();
  private Future<?> connecting = Future.succeededFuture();
  private @Nullable Open open;
  private boolean stopped;

  /** Opens what the lake is made of. */
  interface Storage {
    default LakeStore store(LakeConfig config) {
      return new S3LakeStore(config.s3());
    }

    default LakeTables tables(LakeConfig config) throws IOException {
      return IcebergTables.open(config);
    }
  }

  /** What there is once all is connected. */
  private record Open(
      WorkerExecutor worker,
      SpoolFolder spool,
      LakeStore store,
      LakeTables tables,
      LakeConsumer consumer,
      KafkaProducer<byte[], byte[]> producer) {}

  /** What the worker threads made ready. */
  private record Ready(
      SpoolFolder spool,
      LakeStore store,
      LakeTables tables,
      String topicId,
      Consumer<byte[], byte[]> consumer,
      Producer<byte[], byte[]> producer) {}

  /**
   * @param ids may be shared by the instances of this verticle
   */
  public FeedbackVerticle(
      FeedbackConfig config, LakeConfig lake, Time time, IdSource ids, MeterRegistry registry) {
    this(config, lake, time, ids, registry, new Storage() {});
  }

  FeedbackVerticle(
      FeedbackConfig config,
      LakeConfig lake,
      Time time,
      IdSource ids,
      MeterRegistry registry,
      Storage storage) {
    this.config = config;
    this.lake = lake;
    this.time = time;
    this.ids = ids;
    this.storage = storage;
    metrics = new FeedbackMetrics(registry);
    log = new QuietLog(LOG, time);
  }

  @Override
  public Future<?> start() {
    connect(vertx.createSharedWorkerExecutor("firstlight-lake", WORKERS, 2, TimeUnit.MINUTES));
    return Future.succeededFuture();
  }

  private void connect(WorkerExecutor worker) {
    connecting =
        worker
            .executeBlocking(() -> attempt.run(this::ready), false)
            .compose(ready -> run(worker, ready))
            .onFailure(
                failure -> {
                  if (stopped) {
                    worker.close();
                    return;
                  }
                  metrics.error("connect");
                  log.warn("the sink waits for Kafka, the object store and the catalog", failure);
                  vertx.setTimer(backoff.nextMillis(), _ -> connect(worker));
                });
  }

  private Ready ready() throws Exception {
    LakeStore store = storage.store(lake);
    LakeTables tables = null;
    try {
      store.prepare();
      tables = storage.tables(lake);
      String topicId = KafkaTopics.prepare(config.kafka());
      return new Ready(
          SpoolFolder.open(config.spool(), ids),
          store,
          tables,
          topicId,
          KafkaClients.consumer(config.kafka()),
          KafkaClients.producer(config.kafka()));
    } catch (Exception e) {
      if (tables != null) {
        tables.close();
      }
      store.close();
      throw e;
    }
  }

  private Future<Void> run(WorkerExecutor worker, Ready ready) {
    // Each send's own future tells; without a handler Vert.x logs an error besides.
    KafkaProducer<byte[], byte[]> producer =
        KafkaProducer.<byte[], byte[]>create(vertx, ready.producer()).exceptionHandler(_ -> {});
    KafkaConsumer<byte[], byte[]> kafka = KafkaConsumer.create(vertx, ready.consumer());
    PartitionSink.Parts parts =
        new PartitionSink.Parts(
            vertx,
            time,
            worker,
            new LakeUpload(ready.store(), ready.tables(), ready.spool().path()),
            ready.tables()::schema,
            new DeadLetters(producer, config.kafka().deadTopic()),
            new KafkaOffsets(kafka),
            metrics,
            config.files(),
            ready.spool().path());
    Function<TopicPartition, PartitionSink> sinks =
        partition -> new PartitionSink(partition, ready.topicId(), parts);
    LakeConsumer consumer = new LakeConsumer(vertx, time, kafka, sinks, metrics);
    open = new Open(worker, ready.spool(), ready.store(), ready.tables(), consumer, producer);
    if (stopped) {
      return close(open);
    }
    LOG.info(
        "events of {} go to bucket {}, {}",
        config.kafka().topic(),
        lake.s3().bucket(),
        lake.s3().prefix());
    return consumer.start(config.kafka().topic());
  }

  @Override
  public Future<?> stop() {
    stopped = true;
    Open ours = open;
    if (ours == null) {
      // Else it would go on while the services and Vert.x end, and both would complain of it.
      attempt.end();
      return within(connecting.mapEmpty(), config.closeLimit());
    }
    return within(ours.consumer().drain(), config.closeLimit()).eventually(() -> close(ours));
  }

  private Future<Void> close(Open ours) {
    return within(ours.consumer().close(), config.closeLimit())
        .eventually(() -> ours.producer().close(PRODUCER_CLOSE.toMillis()))
        .eventually(
            () ->
                ours.worker()
                    .executeBlocking(
                        () -> {
                          ours.tables().close();
                          ours.store().close();
                          ours.spool().close();
                          return true;
                        },
                        false))
        .eventually(() -> ours.worker().close())
        .otherwiseEmpty();
  }

  private Future<Void> within(Future<Void> future, Duration limit) {
    return future.timeout(Math.max(1, limit.toMillis()), TimeUnit.MILLISECONDS).otherwiseEmpty();
  }
}
