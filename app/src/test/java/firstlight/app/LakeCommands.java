package firstlight.app;

import firstlight.app.PublishedClients.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The {@code firstlight lake} commands on one configuration, each a process of its own.
 *
 * @param data the folder of the embedded services
 */
record LakeCommands(Path config, Path data) {
  private static final String CONFIGURATION =
      """
      node: {embedded: true}
      models: {smollm2-135m: {default: true}}
      edge: {port: 0, open: true}
      batcher: {firstTokenMax: 5m}
      feedback: {files: {ageMax: 1s}}
      """;

  /**
   * Of a node with embedded services, whose files are in the lake after a second, and that refuses
   * nobody because a slow machine makes him wait.
   */
  static LakeCommands fresh(String name) throws Exception {
    Path folder = FirstlightProcess.freshFolder(name);
    Path config = Files.writeString(folder.resolve("conf.yaml"), CONFIGURATION);
    return new LakeCommands(config, folder.resolve("d"));
  }

  /** Starts the node. */
  FirstlightProcess up() throws Exception {
    return FirstlightProcess.start("up", "--config", config.toString(), "--data", data.toString());
  }

  Run run(String... arguments) throws Exception {
    String[] all =
        Stream.of(
                Stream.of("lake"),
                Stream.of(arguments),
                Stream.of("--config", config.toString(), "--data", data.toString()))
            .flatMap(each -> each)
            .toArray(String[]::new);
    return PublishedClients.run(
        FirstlightProcess.freshFolder("lake"), FirstlightProcess.command(all), Map.of());
  }

  /** The answer's rows, each an object of JSON in a line. */
  String ask(String sql) throws Exception {
    return run("sql", sql, "--format", "jsonl").ok().output().strip();
  }
}
