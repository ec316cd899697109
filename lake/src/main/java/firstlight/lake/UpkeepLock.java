package firstlight.lake;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import java.util.Properties;

/**
 * Held by the one process that keeps a lake in order. It is PostgreSQL's: it ends with the process,
 * whatever happens to that. Who loses the connection without noticing does no harm, because every
 * commit is compared with what was there.
 */
final class UpkeepLock implements AutoCloseable {
  /** Apart from other users of the database's advisory locks. */
  private static final int SPACE = 0x1a4e;

  private final Connection connection;

  private UpkeepLock(Connection connection) {
    this.connection = connection;
  }

  /**
   * Takes it, if nobody has it.
   *
   * @throws SQLException the database does not answer
   */
  static Optional<UpkeepLock> tryTake(LakeConfig.Catalog config) throws SQLException {
    Connection connection = DriverManager.getConnection(config.jdbc(), properties(config));
    try {
      if (taken(connection, config.namespace())) {
        return Optional.of(new UpkeepLock(connection));
      }
    } catch (SQLException | RuntimeException e) {
      connection.close();
      throw e;
    }
    connection.close();
    return Optional.empty();
  }

  private static Properties properties(LakeConfig.Catalog config) {
    String seconds = Long.toString(config.timeout().toSeconds());
    Properties properties = new Properties();
    properties.setProperty("user", config.user());
    properties.setProperty("password", config.password());
    properties.setProperty("connectTimeout", seconds);
    properties.setProperty("loginTimeout", seconds);
    properties.setProperty("socketTimeout", seconds);
    properties.setProperty("tcpKeepAlive", "true");
    return properties;
  }

  private static boolean taken(Connection connection, String namespace) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT pg_try_advisory_lock(?, hashtext(?))")) {
      statement.setInt(1, SPACE);
      statement.setString(2, namespace);
      try (ResultSet result = statement.executeQuery()) {
        return result.next() && result.getBoolean(1);
      }
    }
  }

  /** Gives it back at once; the end of the connection alone would do so a little later. */
  @Override
  public void close() throws SQLException {
    try (connection;
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_advisory_unlock_all()");
    }
  }
}
