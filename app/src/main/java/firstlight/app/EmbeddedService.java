package firstlight.app;

import java.io.IOException;

/** A service of the one-command default, inside this JVM or a child process of it. */
interface EmbeddedService extends AutoCloseable {

  /** As it stands in messages: PostgreSQL, Redis, … */
  String name();

  /** Returns when the service answers. */
  void start() throws Exception;

  /** Stops it, children included. Does nothing when it does not run. */
  @Override
  void close() throws IOException;
}
