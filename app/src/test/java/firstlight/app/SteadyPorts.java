package firstlight.app;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Ports that stay free while whoever listens there is away: below those that the system gives to
 * connections.
 */
final class SteadyPorts {
  private static final int FIRST = 11_000;
  private static final int LAST = 32_000;

  private SteadyPorts() {}

  /** That many different ones. */
  static List<Integer> find(int count) {
    Random random = new Random();
    List<Integer> ports = new ArrayList<>();
    while (ports.size() < count) {
      int port = random.nextInt(FIRST, LAST);
      if (!ports.contains(port) && isFree(port)) {
        ports.add(port);
      }
    }
    return ports;
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress("127.0.0.1", port));
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
