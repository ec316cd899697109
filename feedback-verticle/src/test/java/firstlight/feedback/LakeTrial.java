package firstlight.feedback;

import firstlight.lake.EmbeddedLake;
import firstlight.lake.LakeCatalog;
import firstlight.lake.LakeKind;
import firstlight.lake.LakeS3;
import firstlight.protocol.EmbeddedKafka;
import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.S3Client;

/** A real broker and a real S3 server, with everything a test of the sink does to them. */
final class LakeTrial implements AutoCloseable {
  /** An age at which a batch is closed, for tests that wait for it. */
  static final Duration SOON = Duration.ofMillis(300);

  /** Much longer than the 45 s after which Kafka takes a consumer that does not leave for dead. */
  private static final long LIMIT_S = 120;

  final Vertx vertx = Vertx.vertx();
  final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  EmbeddedKafka kafka;
  final EmbeddedLake lake;
  private final Path folder;
  private final KafkaProducer<byte[], byte[]> producer;

  LakeTrial(Path folder) throws Exception {
    this.folder = folder;
    kafka = EmbeddedKafka.start(folder.resolve("kafka"), 0);
    lake = new EmbeddedLake(folder);
    // One request in flight: see KafkaClients.producer, for here topics are new, too.
    producer =
        new KafkaProducer<>(
            Map.of(
                "bootstrap.servers",
                kafka.bootstrap(),
                "linger.ms",
                0,
                "acks",
                "all",
                "max.in.flight.requests.per.connection",
                1),
            new ByteArraySerializer(),
            new ByteArraySerializer());
  }

  static FeedbackConfig.Files files(int rowsMax, Duration ageMax) {
    return new FeedbackConfig.Files(rowsMax, 64 << 20, ageMax, 8, 1 << 20);
  }

  /** Each name is a topic and a lake of its own. */
  FeedbackConfig config(String name, int partitions, FeedbackConfig.Files files) {
    return new FeedbackConfig(
        new FeedbackConfig.Kafka(
            kafka.bootstrap(), name + ".group", name, name + ".dead", true, partitions, 1),
        files,
        folder.resolve("spool"),
        Duration.ofMillis(500));
  }

  String deploy(FeedbackConfig config) {
    return deploy(config, new FeedbackVerticle.Storage() {});
  }

  String deploy(FeedbackConfig config, FeedbackVerticle.Storage storage) {
    IdSource ids = new IdSource(new SecureRandom());
    return await(
        vertx.deployVerticle(
            new FeedbackVerticle(
                config,
                lake.config(config.kafka().topic()),
                Time.system(),
                ids,
                registry,
                storage)));
  }

  void undeploy(String deployment) {
    await(vertx.undeploy(deployment));
  }

  void send(String topic, List<Event> events) {
    events.forEach(event -> send(topic, null, event.toByteArray()));
    producer.flush();
  }

  /** By a producer of its own, whose transaction is committed or given up. */
  void sendInTransaction(String topic, Event event, boolean commit) throws Exception {
    try (KafkaProducer<byte[], byte[]> other =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", kafka.bootstrap(), "transactional.id", "trial"),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      other.initTransactions();
      other.beginTransaction();
      other.send(new ProducerRecord<>(topic, event.toByteArray())).get(LIMIT_S, TimeUnit.SECONDS);
      if (commit) {
        other.commitTransaction();
      } else {
        other.abortTransaction();
      }
    }
  }

  /** The sum over the partitions; NaN where none is shown. */
  double gauge(String name) {
    return registry.find(name).gauges().stream()
        .mapToDouble(Gauge::value)
        .reduce(Double::sum)
        .orElse(Double.NaN);
  }

  void execute(String sql) {
    try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  void flush() {
    producer.flush();
  }

  /** Stops the broker and starts it over the same folder. */
  void restartKafka() throws Exception {
    kafka.close();
    kafka = EmbeddedKafka.start(folder.resolve("kafka"), kafka.port());
  }

  void send(String topic, byte @Nullable [] key, byte @Nullable [] value) {
    producer.send(new ProducerRecord<>(topic, key, value));
  }

  void createTopic(FeedbackConfig config) throws IOException {
    KafkaTopics.prepare(config.kafka());
  }

  /** Whether the topic could be made; not while Kafka still deletes an older one. */
  boolean created(FeedbackConfig config) {
    try {
      createTopic(config);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Deletes the topic and what its group committed. */
  void deleteTopic(FeedbackConfig config) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrap()))) {
      admin
          .deleteConsumerGroups(List.of(config.kafka().group()))
          .all()
          .get(LIMIT_S, TimeUnit.SECONDS);
      admin.deleteTopics(List.of(config.kafka().topic())).all().get(LIMIT_S, TimeUnit.SECONDS);
    }
  }

  /** The group's offset in partition 0; 0 before the first commit. */
  long committed(FeedbackConfig config) {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrap()))) {
      OffsetAndMetadata found =
          admin
              .listConsumerGroupOffsets(config.kafka().group())
              .partitionsToOffsetAndMetadata()
              .get(LIMIT_S, TimeUnit.SECONDS)
              .get(new TopicPartition(config.kafka().topic(), 0));
      return found == null ? 0 : found.offset();
    } catch (Exception e) {
      return 0;
    }
  }

  /** Sends to another broker; false while the topic is not there. */
  boolean sendOnce(String bootstrap, String topic, Event event) {
    try (KafkaProducer<byte[], byte[]> other =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrap, "max.block.ms", 500),
            new ByteArraySerializer(),
            new ByteArraySerializer())) {
      other.send(new ProducerRecord<>(topic, event.toByteArray())).get(5, TimeUnit.SECONDS);
      return true;
    } catch (Exception e) {
      return false;
    }
  }

  /** All there is on a topic. */
  List<ConsumerRecord<byte[], byte[]>> records(String topic, int count) {
    List<ConsumerRecord<byte[], byte[]>> found = new ArrayList<>();
    TopicPartition partition = new TopicPartition(topic, 0);
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", kafka.bootstrap(), "isolation.level", "read_committed"),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      for (int polls = 0; found.size() < count && polls < 50; polls++) {
        consumer.poll(Duration.ofMillis(200)).forEach(found::add);
      }
    }
    return found;
  }

  void awaitRows(String name, long rows) {
    until(() -> rows(name) >= rows);
  }

  /** That a query sees: those of the files that are in the tables. */
  long rows(String name) {
    return tables(name).stream().mapToLong(DataFile::recordCount).sum();
  }

  /** The files in the newest snapshots of a lake's tables. */
  List<DataFile> tables(String name) {
    List<DataFile> files = new ArrayList<>();
    try (LakeCatalog catalog = LakeCatalog.open(lake.config(name))) {
      for (LakeKind kind : LakeKind.values()) {
        Optional<Table> table = catalog.find(kind);
        if (table.isPresent()) {
          try (CloseableIterable<FileScanTask> tasks = table.get().newScan().planFiles()) {
            tasks.forEach(task -> files.add(task.file().copy()));
          }
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return files;
  }

  /** Where an object that a table names lies on the local disk. */
  Path object(String name, String uri) {
    return lake.objects(name).resolve(uri.substring(lake.config(name).s3().uri("").length()));
  }

  /** The rows that queries see, as DuckDB names them. */
  String rowsOf(String name) {
    List<String> files =
        tables(name).stream().map(file -> "'" + object(name, file.location()) + "'").toList();
    return "read_parquet(%s, union_by_name = true)".formatted(files);
  }

  /** All files of a lake, as DuckDB names them. */
  String table(String name) {
    return table(name, "*");
  }

  String table(String name, String kind) {
    return "read_parquet('%s/s3/lake/%s/kind=%s/*/*.parquet', union_by_name = true)"
        .formatted(folder, name, kind);
  }

  List<List<Object>> query(String sql) {
    try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
        Statement statement = connection.createStatement();
        ResultSet found = statement.executeQuery(sql)) {
      List<List<Object>> rows = new ArrayList<>();
      while (found.next()) {
        List<Object> row = new ArrayList<>();
        for (int i = 1; i <= found.getMetaData().getColumnCount(); i++) {
          row.add(found.getObject(i));
        }
        rows.add(row);
      }
      return rows;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** The names of the Parquet files, below the lake's prefix. */
  List<String> objects(String name) {
    Path objects = lake.objects(name);
    if (!Files.exists(objects)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(objects)) {
      return all.filter(path -> path.toString().endsWith(".parquet"))
          .map(path -> objects.relativize(path).toString())
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The last four bytes of a file of the lake. */
  String ending(String name, String object) {
    try (RandomAccessFile file =
        new RandomAccessFile(lake.objects(name).resolve(object).toFile(), "r")) {
      byte[] end = new byte[4];
      file.seek(Math.max(0, file.length() - end.length));
      file.readFully(end);
      return new String(end, StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new IllegalStateException(object, e);
    }
  }

  /** Uploads in parts that somebody began and did not end. */
  int openUploads() {
    try (S3Client client = LakeS3.client(lake.config("any").s3())) {
      return client.listMultipartUploads(list -> list.bucket(EmbeddedLake.BUCKET)).uploads().size();
    }
  }

  void until(BooleanSupplier holds) {
    await(look(holds));
  }

  // Looking blocks, for instance in DuckDB, so it is no work for an event loop.
  private Future<Void> look(BooleanSupplier holds) {
    return vertx
        .executeBlocking(holds::getAsBoolean, false)
        .compose(
            held -> held ? Future.succeededFuture() : vertx.timer(50).compose(_ -> look(holds)));
  }

  double counted(String counter) {
    return registry.find(counter).counters().stream().mapToDouble(each -> each.count()).sum();
  }

  static <T> T await(Future<T> future) {
    try {
      return future.toCompletionStage().toCompletableFuture().get(LIMIT_S, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError("it did not happen in time", e);
    }
  }

  @Override
  public void close() throws IOException {
    producer.close(Duration.ZERO);
    await(vertx.close());
    lake.close();
    kafka.close();
  }
}
