package firstlight.protocol;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.metadata.storage.Formatter;
import org.apache.kafka.server.common.MetadataVersion;

/** A whole Kafka in this process: one KRaft broker and controller over one folder. */
public final class EmbeddedKafka implements AutoCloseable {
  private static final String HOST = "127.0.0.1";
  private static final int NODE = 1;

  private final KafkaRaftServer server;
  private final int port;

  private EmbeddedKafka(KafkaRaftServer server, int port) {
    this.server = server;
    this.port = port;
  }

  /**
   * Starts a broker; blocks until it serves. What lies in the folder from an earlier run is there
   * again.
   *
   * @param port for clients; 0: any free one
   */
  public static EmbeddedKafka start(Path folder, int port) throws Exception {
    int clients = port == 0 ? freePort() : port;
    Files.createDirectories(folder);
    if (!Files.exists(folder.resolve("meta.properties"))) {
      format(folder);
    }
    KafkaConfig config = new KafkaConfig(settings(folder, clients, freePort()), false);
    KafkaRaftServer server = new KafkaRaftServer(config, Time.SYSTEM);
    try {
      server.startup();
    } catch (RuntimeException | Error e) {
      server.shutdown();
      throw e;
    }
    return new EmbeddedKafka(server, clients);
  }

  public String bootstrap() {
    return HOST + ":" + port;
  }

  public int port() {
    return port;
  }

  /** Stops; blocks until the folder is at rest. */
  @Override
  public void close() {
    server.shutdown();
    server.awaitShutdown();
  }

  private static void format(Path folder) throws Exception {
    new Formatter()
        .setPrintStream(new PrintStream(OutputStream.nullOutputStream()))
        .setClusterId(Uuid.randomUuid().toString())
        .setNodeId(NODE)
        .setDirectories(List.of(folder.toString()))
        .setMetadataLogDirectory(folder.toString())
        .setControllerListenerName("CONTROLLER")
        .setReleaseVersion(MetadataVersion.latestProduction())
        .run();
  }

  private static Map<String, String> settings(Path folder, int clients, int controller) {
    Map<String, String> settings = new HashMap<>();
    settings.put("process.roles", "broker,controller");
    settings.put("node.id", Integer.toString(NODE));
    settings.put(
        "listeners",
        "PLAINTEXT://%s:%d,CONTROLLER://%s:%d".formatted(HOST, clients, HOST, controller));
    settings.put("advertised.listeners", "PLAINTEXT://%s:%d".formatted(HOST, clients));
    settings.put("controller.listener.names", "CONTROLLER");
    settings.put("controller.quorum.voters", "%d@%s:%d".formatted(NODE, HOST, controller));
    settings.put("log.dirs", folder.toString());
    settings.put("auto.create.topics.enable", "false");
    settings.put("offsets.topic.num.partitions", "1");
    settings.put("offsets.topic.replication.factor", "1");
    settings.put("transaction.state.log.num.partitions", "1");
    settings.put("transaction.state.log.replication.factor", "1");
    settings.put("transaction.state.log.min.isr", "1");
    settings.put("group.initial.rebalance.delay.ms", "0");
    // One small node: the defaults are for a machine of its own.
    settings.put("num.network.threads", "1");
    settings.put("num.io.threads", "2");
    settings.put("background.threads", "1");
    settings.put("num.recovery.threads.per.data.dir", "1");
    settings.put("log.cleaner.dedupe.buffer.size", Integer.toString(2 << 20));
    settings.put("log.segment.bytes", Integer.toString(64 << 20));
    settings.put("controlled.shutdown.enable", "false");
    return settings;
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
      return socket.getLocalPort();
    }
  }
}
