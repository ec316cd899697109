package firstlight.app;

import firstlight.lake.LakeCatalog;
import firstlight.lake.LakeConfig;
import firstlight.lake.LakeKind;
import firstlight.protocol.Settings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;
import org.jspecify.annotations.Nullable;

/**
 * A whole slow path of processes that can be killed one by one: broker, object store, PostgreSQL,
 * an edge with glass behind it, and a sink.
 */
final class FaultCluster implements AutoCloseable {
  static final String KEY = "test-key-a";
  private static final int SCHEME = "s3://".length();
  static final long KAFKA_DISK_MIB = 1_024;
  private static final Duration VISIBLE = Duration.ofSeconds(90);

  /** Little memory, and little work for the compiler: each shares the machine with the edge. */
  private static final List<String> SMALL = List.of("-Xmx384m", "-XX:TieredStopAtLevel=1");

  private final Path folder;
  private final int stepMillis;
  private final int streams;
  private final List<Integer> ports;
  private final @Nullable SmallDisk kafkaDisk;
  private final EmbeddedPostgresServer postgres;
  private final MomentRelay storeRelay;
  private final MomentRelay catalogRelay;
  private @Nullable ChildJvm kafka;
  private @Nullable ChildJvm store;
  private @Nullable ChildJvm edge;

  /**
   * @param disk whether Kafka gets a disk of its own
   */
  FaultCluster(Path folder, int streams, int stepMillis, boolean disk) throws Exception {
    this.folder = folder;
    this.streams = streams;
    this.stepMillis = stepMillis;
    ports = SteadyPorts.find(5);
    kafkaDisk = disk ? SmallDisk.mount(folder.resolve("kafka"), KAFKA_DISK_MIB) : null;
    postgres = new EmbeddedPostgresServer(folder.resolve("postgres"), ports.get(4));
    storeRelay = new MomentRelay(ports.get(2));
    catalogRelay = new MomentRelay(ports.get(4));
  }

  /** Starts all but a sink. */
  void start() throws Exception {
    kafka = newKafka();
    store = newStore();
    edge = newEdge("");
    postgres.start();
    kafka.await();
    store.await();
    edge.await();
  }

  ChildJvm kafka() {
    return Objects.requireNonNull(kafka);
  }

  ChildJvm store() {
    return Objects.requireNonNull(store);
  }

  ChildJvm edge() {
    return Objects.requireNonNull(edge);
  }

  SmallDisk kafkaDisk() {
    return Objects.requireNonNull(kafkaDisk);
  }

  /** Between sinks that are told so and the service of the moment. */
  MomentRelay relay(Moment moment) {
    return moment.ofCatalog() ? catalogRelay : storeRelay;
  }

  private ChildJvm newKafka() throws IOException {
    return ChildJvm.start(
        folder.resolve("kafka.log"),
        SMALL,
        ServiceMain.class,
        "kafka",
        folder.resolve("kafka/logs"),
        ports.get(0),
        ports.get(1));
  }

  private ChildJvm newStore() throws IOException {
    return ChildJvm.start(
        folder.resolve("store.log"), SMALL, ServiceMain.class, "s3", objects(), ports.get(2));
  }

  private ChildJvm newEdge(String spool) throws IOException {
    Path file = folder.resolve("edge.yaml");
    Files.writeString(file, edgeSettings(spool));
    return ChildJvm.start(
        folder.resolve("edge.log"), List.of("-Xmx1g"), GlassNodeMain.class, file, stepMillis);
  }

  void restartKafka() throws Exception {
    kafka().kill();
    kafka = newKafka().await();
  }

  void restartStore() throws Exception {
    store().kill();
    store = newStore().await();
  }

  /**
   * After it has ended, in whatever way.
   *
   * @param spool its settings; empty: those of the first edge
   */
  void startEdge(String spool) throws Exception {
    edge = newEdge(spool).await();
  }

  Path folder() {
    return folder;
  }

  /**
   * Starts a sink; it is not waited for.
   *
   * @param relayed whether it reaches store and catalog through the relays
   */
  ChildJvm startSink(String name, boolean relayed, int instances) throws IOException {
    Path file = folder.resolve(name + ".yaml");
    Files.writeString(file, sinkSettings(name, relayed));
    return ChildJvm.start(folder.resolve(name + ".log"), SMALL, SinkMain.class, file, instances);
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + ports.get(3));
  }

  SseCalls calls() {
    return new SseCalls(ports.get(3), KEY);
  }

  String bootstrap() {
    return "127.0.0.1:" + ports.get(0);
  }

  private Path objects() {
    return folder.resolve("objects");
  }

  private String edgeSettings(String spool) {
    return """
    edge:
      port: %d
      warmUp: 0ms
      kafka: {bootstrap: "%s"}
      spool: %s
      tenants: {a: {key: %s}}
    batcher:
      runningMax: %d
      stepTokensMax: 1024
      reservedOutput: 0
      speculation: false
      tenantWaitingShare: 1
    gpu: {warmUp: 0ms}
    """
        .formatted(
            ports.get(3),
            bootstrap(),
            spool.isEmpty() ? "{folder: %s}".formatted(folder.resolve("spool")) : spool,
            KEY,
            Math.max(64, streams));
  }

  private String sinkSettings(String name, boolean relayed) {
    return """
    feedback:
      kafka: {bootstrap: "%s"}
      files: {ageMax: 500ms}
      spool: %s
    """
            .formatted(bootstrap(), folder.resolve(name + "-spool"))
        + lakeSettings(
            relayed ? storeRelay.port() : ports.get(2),
            relayed ? catalogRelay.port() : ports.get(4));
  }

  private static String lakeSettings(int store, int catalog) {
    return """
    lake:
      catalog:
        jdbc: jdbc:postgresql://127.0.0.1:%d/%s
        user: %s
      s3: {endpoint: "http://127.0.0.1:%d", accessKey: %s, secretKey: %s}
    """
        .formatted(
            catalog,
            EmbeddedPostgresServer.DATABASE,
            EmbeddedPostgresServer.USER,
            store,
            EmbeddedObjectStore.ACCESS_KEY,
            EmbeddedObjectStore.SECRET_KEY);
  }

  /** What the tables show now. */
  LakeCount count() throws Exception {
    Settings settings = Settings.parse(lakeSettings(ports.get(2), ports.get(4)), _ -> null);
    try (LakeCatalog catalog = LakeCatalog.open(LakeConfig.read(settings.section("lake")))) {
      return LakeCount.of(files(catalog, LakeKind.RESPONSE), files(catalog, LakeKind.FEEDBACK));
    }
  }

  /** The files of a table's newest snapshot, where the store keeps them. */
  private List<Path> files(LakeCatalog catalog, LakeKind kind) throws IOException {
    Optional<Table> table = catalog.find(kind);
    if (table.isEmpty()) {
      return List.of();
    }
    List<Path> files = new ArrayList<>();
    try (CloseableIterable<FileScanTask> tasks = table.get().newScan().planFiles()) {
      tasks.forEach(task -> files.add(objects().resolve(task.file().location().substring(SCHEME))));
    }
    return files;
  }

  /** Waits until all that must be is in the lake, then looks closely. */
  LakeCount settle(StreamLoad.Sent sent, String when) throws Exception {
    try {
      Eventually.holds(VISIBLE, "everything is in the lake", () -> count().has(sent));
    } catch (AssertionError _) {
      // What is missing is told below.
    }
    LakeCount count = count();
    count.verify(sent, when);
    return count;
  }

  @Override
  public void close() throws IOException {
    try {
      for (ChildJvm child : Arrays.asList(edge, store, kafka)) {
        if (child != null) {
          child.kill();
        }
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    postgres.close();
    storeRelay.close();
    catalogRelay.close();
    if (kafkaDisk != null) {
      kafkaDisk.close();
    }
  }
}
