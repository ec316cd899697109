package firstlight.feedback;

import firstlight.lake.EmbeddedLake;
import firstlight.lake.LakeConfig;
import firstlight.protocol.EmbeddedKafka;
import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
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
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
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

/** A real broker and a real S3 server, with everything a test of the sink does to them. */
final class LakeTrial implements AutoCloseable {
  /** Much longer than the 45 s after which Kafka takes a consumer that does not leave for dead. */
  private static final long LIMIT_S = 120;

  final Vertx vertx = Vertx.vertx();
  final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  final EmbeddedKafka kafka;
  final EmbeddedLake lake;
  private final Path folder;
  private final KafkaProducer<byte[], byte[]> producer;

  LakeTrial(Path folder) throws Exception {
    this.folder = folder;
    kafka = EmbeddedKafka.start(folder.resolve("kafka"), 0);
    lake = new EmbeddedLake(folder);
    producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", kafka.bootstrap(), "linger.ms", 0, "acks", "all"),
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
    return deploy(config, S3LakeStore::new);
  }

  String deploy(FeedbackConfig config, Function<LakeConfig.S3, LakeStore> store) {
    IdSource ids = new IdSource(new SecureRandom());
    return await(
        vertx.deployVerticle(
            new FeedbackVerticle(
                config, lake.config(config.kafka().topic()), Time.system(), ids, registry, store)));
  }

  void undeploy(String deployment) {
    await(vertx.undeploy(deployment));
  }

  void send(String topic, List<Event> events) {
    events.forEach(event -> send(topic, null, event.toByteArray()));
    producer.flush();
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
            Map.of("bootstrap.servers", kafka.bootstrap()),
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

  long rows(String name) {
    return objects(name).isEmpty()
        ? 0
        : (Long) query("select count(*) from " + table(name)).getFirst().getFirst();
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
