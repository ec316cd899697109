package firstlight.app;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** PostgreSQL as a child process, its data under one folder. */
final class EmbeddedPostgresServer implements EmbeddedService {
  static final String USER = "postgres";
  static final String DATABASE = "postgres";

  private static final Duration START_LIMIT = Duration.ofSeconds(60);

  private final Path directory;
  private final int port;
  private @Nullable EmbeddedPostgres server;

  EmbeddedPostgresServer(Path directory, int port) {
    this.directory = directory;
    this.port = port;
  }

  @Override
  public String name() {
    return "PostgreSQL";
  }

  @Override
  public void start() throws IOException {
    Path data = directory.resolve("cluster");
    Orphans.stop(data.resolve("postmaster.pid"), "postgres");
    Path binaries = directory.resolve("binaries");
    Path unpacked = directory.resolve("binaries-complete");
    if (!Files.exists(unpacked)) {
      // A start that was cut off while unpacking leaves what no later one can use.
      deleteTree(binaries);
    }
    server =
        EmbeddedPostgres.builder()
            .setDataDirectory(data)
            .setOverrideWorkingDirectory(binaries.toFile())
            .setCleanDataDirectory(false)
            .setRegisterShutdownHook(false)
            .setPort(port)
            .setServerConfig("listen_addresses", "127.0.0.1")
            .setServerConfig("max_connections", "64")
            .setServerConfig("shared_buffers", "32MB")
            .setPGStartupWait(START_LIMIT)
            .setOutputRedirector(Redirect.DISCARD)
            .setErrorRedirector(Redirect.DISCARD)
            .start();
    Files.writeString(unpacked, "");
  }

  private static void deleteTree(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  @Override
  public void close() throws IOException {
    if (server != null) {
      server.close();
      server = null;
    }
  }
}
