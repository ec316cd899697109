package firstlight.session;

import firstlight.protocol.Settings;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import redis.embedded.RedisServer;

/**
 * A PostgreSQL and a Redis, started once for all tests and handed to them as a parameter. A test
 * may stop either of them and starts it again.
 */
final class RealServices implements AutoCloseable {
  private final Path folder =
      Path.of(System.getProperty("firstlight.root", ".."), "session-verticle/target/services")
          .toAbsolutePath()
          .normalize();
  private final int postgresPort = freePort();
  private final int redisPort = freePort();
  private @Nullable EmbeddedPostgres postgres;
  private @Nullable RedisServer redis;

  /** For {@code @ExtendWith}. */
  static final class Extension implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == RealServices.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return context
          .getRoot()
          .getStore(ExtensionContext.Namespace.create(RealServices.class))
          .computeIfAbsent(RealServices.class, _ -> new RealServices(), RealServices.class);
    }
  }

  private RealServices() {
    remove(folder.resolve("postgres"));
    startRedis();
    startPostgres();
  }

  /** With patience, since the machine of a test may be busy. */
  SessionConfig config() {
    return config(true, "");
  }

  /**
   * @param cached in Redis, too
   * @param more sections
   */
  SessionConfig config(boolean cached, String more) {
    String yaml =
        """
        postgres: {host: 127.0.0.1, port: %d, database: postgres, user: postgres, timeout: 5s}
        redis: {enabled: %s, connection: "redis://127.0.0.1:%d", timeout: 1s}
        attemptPause: 100ms
        %s
        """
            .formatted(postgresPort, cached, redisPort, more);
    Settings settings = Settings.parse(yaml, _ -> null);
    SessionConfig config = SessionConfig.from(settings);
    settings.problems().throwIfAny();
    return config;
  }

  /** An empty database. */
  SessionConfig.Postgres freshDatabase(String name) {
    sql("CREATE DATABASE " + name);
    SessionConfig.Postgres given = config().postgres();
    return new SessionConfig.Postgres(
        given.host(),
        given.port(),
        name,
        given.user(),
        given.password(),
        given.poolSize(),
        given.waitingMax(),
        given.timeout(),
        given.renewAfter(),
        given.lifetime(),
        given.migrate());
  }

  void sql(String statement) {
    try (Connection connection = connection();
        Statement sql = connection.createStatement()) {
      sql.execute(statement);
    } catch (SQLException e) {
      throw new AssertionError(statement, e);
    }
  }

  /** From now on this user exists and needs its password, which is checked with SCRAM. */
  void addUser(String user, String password) {
    Path rules = folder.resolve("postgres/pg_hba.conf");
    try {
      String rule = "host all %s 127.0.0.1/32 scram-sha-256\n".formatted(user);
      Files.writeString(rules, rule + Files.readString(rules));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    sql("CREATE ROLE %s SUPERUSER LOGIN PASSWORD '%s'".formatted(user, password));
    sql("SELECT pg_reload_conf()");
  }

  /** With the rights of an administrator; the caller closes it. */
  Connection connection() throws SQLException {
    if (postgres == null) {
      throw new IllegalStateException("PostgreSQL is stopped");
    }
    return postgres.getPostgresDatabase().getConnection();
  }

  /** To another database of the same server. */
  static Connection connection(SessionConfig.Postgres database) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:postgresql://%s:%d/%s"
            .formatted(database.host(), database.port(), database.database()),
        database.user(),
        database.password());
  }

  void stopPostgres() {
    try {
      if (postgres != null) {
        postgres.close();
      }
      postgres = null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void startRedis() {
    try {
      Files.createDirectories(folder);
      redis =
          RedisServer.newRedisServer()
              .port(redisPort)
              .bind("127.0.0.1")
              .setting("save \"\"")
              .setting("appendonly no")
              .setting("dir " + folder)
              .onShutdownForceStop(true)
              .build();
      redis.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills it; its content is lost. */
  void stopRedis() {
    try {
      if (redis != null) {
        redis.stop();
      }
      redis = null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    stopRedis();
    stopPostgres();
  }

  void startPostgres() {
    try {
      postgres =
          EmbeddedPostgres.builder()
              .setDataDirectory(folder.resolve("postgres"))
              .setOverrideWorkingDirectory(folder.resolve("binaries").toFile())
              .setCleanDataDirectory(false)
              .setPort(postgresPort)
              .setServerConfig("fsync", "off")
              .setServerConfig("shared_buffers", "16MB")
              .setOutputRedirector(Redirect.DISCARD)
              .setErrorRedirector(Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void remove(Path folder) {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
