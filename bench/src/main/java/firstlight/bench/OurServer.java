package firstlight.bench;

import firstlight.model.DefaultModels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * How {@code ./firstlight up} is started for a benchmark.
 *
 * @param threads that compute
 * @param settings more of them, by dotted names
 * @param folder takes the configuration, the data and the log
 */
record OurServer(int threads, Map<String, String> settings, Path folder) {
  static final String MODEL = DefaultModels.SMOLLM2_135M;

  /** Keys of the two tenants there are. */
  static final List<String> KEYS = List.of("test-key-a", "test-key-b");

  /** Everything on this machine, open to all. */
  Server whole() {
    return server("Firstlight", "up", base().put("node.embedded", true).put("edge.open", true));
  }

  /** The same, for two tenants. */
  Server withTenants() {
    return server(
        "Firstlight",
        "tenants",
        base()
            .put("node.embedded", true)
            .put("edge.tenants.a.key", KEYS.get(0))
            .put("edge.tenants.b.key", KEYS.get(1)));
  }

  /** A node that only answers: what it would send to other nodes goes nowhere. */
  Server answering() {
    return server(
        "Firstlight, roles edge, batcher and gpu",
        "answering",
        base()
            .put("node.embedded", false)
            .put("node.roles", List.of("edge", "batcher", "gpu"))
            .put("edge.kafka.bootstrap", "")
            .put("edge.open", true));
  }

  private SettingsTree base() {
    return new SettingsTree()
        .put("models." + MODEL + ".default", true)
        .put("node.data", folder.resolve("data").toString())
        .put("gpu.threads", threads);
  }

  private Server server(String name, String file, SettingsTree tree) {
    int port = FreePort.find();
    tree.put("edge.host", "127.0.0.1").put("edge.port", port).putAll(settings);
    Path configuration = folder.resolve(file + ".yaml");
    try {
      Files.createDirectories(folder);
      Files.writeString(configuration, tree.yaml());
    } catch (IOException e) {
      throw new BenchFailure(
          "%s can not be written: %s".formatted(configuration, e.getMessage()), e);
    }
    return new Server(
        name,
        List.of(
            Folders.home().resolve("firstlight").toString(),
            "up",
            "--config",
            configuration.toString()),
        port,
        "/health/ready",
        MODEL,
        folder.resolve(file + ".log"));
  }
}
