package firstlight.app;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/** Ports of loopback that nobody listens on. */
final class FreePorts {
  private FreePorts() {}

  /**
   * Sees that a port can be listened on, before anything is spent on a start that would fail.
   *
   * @param port 0: any, so there is nothing to see
   * @throws StartFailure when somebody else has it
   */
  static void require(String host, int port) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.setReuseAddress(true);
      socket.bind(new InetSocketAddress(host, port));
    } catch (IOException e) {
      throw new StartFailure(
          "can not listen on port %d of %s: %s. Choose another with --port."
              .formatted(port, host, e.getMessage()));
    }
  }

  /** That many different ones; all are held until the last is found. */
  static List<Integer> find(int count) throws IOException {
    List<ServerSocket> held = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        ServerSocket socket = new ServerSocket();
        held.add(socket);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      }
      return held.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (ServerSocket socket : held) {
        socket.close();
      }
    }
  }
}
