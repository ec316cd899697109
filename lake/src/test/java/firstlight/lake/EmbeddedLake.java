package firstlight.lake;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A real PostgreSQL and a real S3 server, for lakes. A test may stop either and start it again. */
public final class EmbeddedLake implements AutoCloseable {
  public static final String KEY = "local";
  public static final String SECRET = "local-secret";
  public static final String BUCKET = "lake";

  private static final String DATABASE = "postgres";
  private static final String USER = "postgres";
  private static final Duration TIMEOUT = Duration.ofSeconds(5);

  private final Path folder;
  private final int postgresPort;
  private final int s3Port;
  private @Nullable EmbeddedPostgres postgres;
  private @Nullable EmbeddedS3 s3;

  public EmbeddedLake(Path folder) throws Exception {
    this.folder = folder;
    postgresPort = freePort();
    s3Port = freePort();
    startPostgres();
    startS3();
  }

  /** Each name is a lake of its own: a prefix in the bucket, a namespace in the catalog. */
  public LakeConfig config(String name) {
    return config(name, postgresPort);
  }

  /** The same, with the database behind another port, a proxy's. */
  LakeConfig config(String name, int port) {
    return new LakeConfig(
        new LakeConfig.Catalog(
            "jdbc:postgresql://127.0.0.1:%d/%s".formatted(port, DATABASE),
            USER,
            "",
            name.replace('-', '_'),
            TIMEOUT),
        new LakeConfig.S3(
            "http://127.0.0.1:" + s3Port, "us-east-1", BUCKET, name + "/", KEY, SECRET, true));
  }

  /** Where the objects of a lake lie on the local disk. */
  public Path objects(String name) {
    return folder.resolve("s3").resolve(BUCKET).resolve(name);
  }

  int postgresPort() {
    return postgresPort;
  }

  /** As the administrator. */
  public void sql(String statement) {
    if (postgres == null) {
      throw new IllegalStateException("PostgreSQL is stopped");
    }
    try (Connection connection = postgres.getPostgresDatabase().getConnection();
        Statement sql = connection.createStatement()) {
      sql.execute(statement);
    } catch (SQLException e) {
      throw new AssertionError(statement, e);
    }
  }

  public void startPostgres() throws IOException {
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
  }

  public void stopPostgres() throws IOException {
    if (postgres != null) {
      postgres.close();
      postgres = null;
    }
  }

  public void startS3() throws Exception {
    s3 = EmbeddedS3.start(folder.resolve("s3"), s3Port, KEY, SECRET);
  }

  public void stopS3() {
    if (s3 != null) {
      s3.close();
      s3 = null;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() throws IOException {
    stopS3();
    stopPostgres();
  }
}
