package firstlight.app;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;
import org.jspecify.annotations.Nullable;

/** One Kafka broker, its own controller (KRaft), in this JVM. */
final class EmbeddedKafka implements EmbeddedService {
  private static final int NODE = 1;

  private final Path directory;
  private final int port;
  private final int controllerPort;
  private @Nullable KafkaRaftServer server;

  EmbeddedKafka(Path directory, int port, int controllerPort) {
    this.directory = directory;
    this.port = port;
    this.controllerPort = controllerPort;
  }

  @Override
  public String name() {
    return "Kafka";
  }

  @Override
  public void start() throws Exception {
    Files.createDirectories(directory);
    format();
    KafkaRaftServer broker =
        new KafkaRaftServer(KafkaConfig.fromProps(properties(), false), Time.SYSTEM);
    server = broker;
    broker.startup();
  }

  private void format() throws Exception {
    if (Files.exists(directory.resolve("meta.properties"))) {
      return;
    }
    Formatter formatter =
        new Formatter()
            .setPrintStream(
                new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8))
            .setNodeId(NODE)
            .setClusterId(Uuid.randomUuid().toString())
            .addDirectory(directory.toString())
            .setControllerListenerName("CONTROLLER")
            .setMetadataLogDirectory(directory.toString())
            .setReleaseVersion(MetadataVersion.LATEST_PRODUCTION)
            .setIgnoreFormatted(true);
    formatter.run();
  }

  private Properties properties() {
    Properties properties = new Properties();
    properties.put("process.roles", "broker,controller");
    properties.put("node.id", String.valueOf(NODE));
    properties.put("controller.quorum.voters", NODE + "@127.0.0.1:" + controllerPort);
    properties.put("controller.listener.names", "CONTROLLER");
    properties.put(
        "listeners",
        "PLAINTEXT://127.0.0.1:%d,CONTROLLER://127.0.0.1:%d".formatted(port, controllerPort));
    properties.put("log.dirs", directory.toString());
    properties.put("num.partitions", "2");
    properties.put("offsets.topic.num.partitions", "4");
    properties.put("offsets.topic.replication.factor", "1");
    properties.put("transaction.state.log.num.partitions", "4");
    properties.put("transaction.state.log.replication.factor", "1");
    properties.put("transaction.state.log.min.isr", "1");
    properties.put("group.initial.rebalance.delay.ms", "0");
    properties.put("log.cleaner.dedupe.buffer.size", String.valueOf(4 << 20));
    properties.put("log.retention.hours", "168");
    properties.put("num.network.threads", "1");
    properties.put("num.io.threads", "2");
    properties.put("background.threads", "2");
    properties.put("controlled.shutdown.enable", "false");
    // A restarted broker waits until the session of the one before it has ended.
    properties.put("broker.session.timeout.ms", "2000");
    properties.put("broker.heartbeat.interval.ms", "400");
    return properties;
  }

  @Override
  public void close() throws IOException {
    if (server != null) {
      server.shutdown();
      server.awaitShutdown();
      server = null;
    }
  }
}
