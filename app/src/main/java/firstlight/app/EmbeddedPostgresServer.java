package firstlight.app;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.time.Duration;
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
    server =
        EmbeddedPostgres.builder()
            .setDataDirectory(data)
            .setOverrideWorkingDirectory(directory.resolve("binaries").toFile())
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
  }

  @Override
  public void close() throws IOException {
    if (server != null) {
      server.close();
      server = null;
    }
  }
}
