package firstlight.lake;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Between a client and PostgreSQL. Once told so, it passes the next UPDATE on, and cuts the
 * connection instead of passing the answer back.
 */
final class CuttingProxy implements AutoCloseable {
  private final ServerSocket door;
  private final int target;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final AtomicInteger armed = new AtomicInteger();
  private final AtomicInteger cuts = new AtomicInteger();

  CuttingProxy(int target) throws IOException {
    this.target = target;
    door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return door.getLocalPort();
  }

  void cutAfterUpdate() {
    armed.set(1);
  }

  int cuts() {
    return cuts.get();
  }

  private void accept() {
    try {
      while (true) {
        Link link = new Link(door.accept(), new Socket(InetAddress.getLoopbackAddress(), target));
        sockets.add(link.client);
        sockets.add(link.server);
        Thread.ofVirtual().start(link::up);
        Thread.ofVirtual().start(link::down);
      }
    } catch (IOException e) {
      // It is closed.
    }
  }

  private final class Link {
    private final Socket client;
    private final Socket server;
    private volatile boolean doomed;

    Link(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }

    private void up() {
      byte[] buffer = new byte[1 << 16];
      try (client;
          server) {
        InputStream in = client.getInputStream();
        OutputStream out = server.getOutputStream();
        for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
          String text = new String(buffer, 0, length, StandardCharsets.ISO_8859_1);
          if (text.contains("UPDATE ") && armed.compareAndSet(1, 0)) {
            doomed = true;
          }
          out.write(buffer, 0, length);
        }
      } catch (IOException e) {
        // One side has gone.
      }
    }

    private void down() {
      byte[] buffer = new byte[1 << 16];
      try (client;
          server) {
        InputStream in = server.getInputStream();
        OutputStream out = client.getOutputStream();
        for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
          if (doomed) {
            // The answer is here, so the change is made.
            cuts.incrementAndGet();
            return;
          }
          out.write(buffer, 0, length);
        }
      } catch (IOException e) {
        // One side has gone.
      }
    }
  }

  @Override
  public void close() throws IOException {
    door.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
