package firstlight.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import redis.embedded.RedisServer;

/** Redis as a child process. It is a cache here, so nothing of it is kept on disk. */
final class EmbeddedRedisServer implements EmbeddedService {
  private final Path directory;
  private final int port;
  private @Nullable RedisServer server;

  EmbeddedRedisServer(Path directory, int port) {
    this.directory = directory;
    this.port = port;
  }

  @Override
  public String name() {
    return "Redis";
  }

  @Override
  public void start() throws IOException {
    Files.createDirectories(directory);
    Path pidFile = directory.resolve("redis.pid").toAbsolutePath();
    Orphans.stop(pidFile, "redis");
    server =
        RedisServer.newRedisServer()
            .port(port)
            .bind("127.0.0.1")
            .setting("dir " + directory.toAbsolutePath())
            .setting("pidfile " + pidFile)
            .setting("save \"\"")
            .setting("appendonly no")
            .setting("maxmemory 256mb")
            .setting("maxmemory-policy allkeys-lru")
            .build();
    server.start();
  }

  @Override
  public void close() throws IOException {
    if (server != null) {
      server.stop();
      server = null;
    }
  }
}
