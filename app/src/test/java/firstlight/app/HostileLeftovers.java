package firstlight.app;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Connections that clients have left open in the middle of something; the oldest go. Thread-safe.
 */
final class HostileLeftovers implements AutoCloseable {
  private static final int MAX = 16;

  private final Deque<Wire> open = new ArrayDeque<>();

  synchronized void add(Wire wire) throws IOException {
    open.add(wire);
    if (open.size() > MAX) {
      open.remove().close();
    }
  }

  @Override
  public synchronized void close() throws IOException {
    while (!open.isEmpty()) {
      open.remove().close();
    }
  }
}
