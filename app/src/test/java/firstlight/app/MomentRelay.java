package firstlight.app;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Stands in front of a service, hands all bytes on as they come, and does something when a {@link
 * Moment} comes: before the bytes that tell of it go on.
 */
final class MomentRelay implements AutoCloseable {
  private static final int PIECE = 64 << 10;

  private final ServerSocket server;
  private final int target;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private @Nullable Catch armed;

  private record Catch(Moment moment, int nth, Runnable then) {}

  /**
   * @param target port of the service on loopback
   */
  MomentRelay(int target) throws IOException {
    this.target = target;
    server = new ServerSocket(0, 256, InetAddress.getByName("127.0.0.1"));
    threads.submit(this::accept);
  }

  int port() {
    return server.getLocalPort();
  }

  /**
   * Does something, once, when the moment comes for the n-th time from now on.
   *
   * @param nth from 1
   */
  synchronized void arm(Moment moment, int nth, Runnable then) {
    armed = new Catch(moment, nth, then);
  }

  synchronized void disarm() {
    armed = null;
  }

  private @Nullable Void accept() throws IOException {
    while (true) {
      Socket client = server.accept();
      sockets.add(client);
      threads.submit(() -> serve(client));
    }
  }

  private void serve(Socket client) {
    try (client;
        Socket service = new Socket()) {
      sockets.add(service);
      service.connect(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), target));
      client.setTcpNoDelay(true);
      service.setTcpNoDelay(true);
      Connection connection = new Connection();
      var answers = threads.submit(() -> connection.answers(service, client));
      connection.requests(client, service);
      answers.cancel(true);
    } catch (IOException _) {
      // Who is connected sees its end.
    } finally {
      sockets.remove(client);
    }
  }

  /** The moment that a request tells of, or that its answer will. */
  private synchronized @Nullable Moment asked(byte[] bytes, int length) {
    Catch now = armed;
    return now != null && now.moment.asks(bytes, length) ? now.moment : null;
  }

  private void come(Moment moment) {
    Catch now;
    synchronized (this) {
      now = armed;
      if (now == null || now.moment != moment) {
        return;
      }
      if (now.nth > 1) {
        armed = new Catch(moment, now.nth - 1, now.then);
        return;
      }
      armed = null;
    }
    now.then.run();
  }

  /** What one connection was last asked. */
  private final class Connection {
    private volatile @Nullable Moment open;

    void requests(Socket from, Socket to) throws IOException {
      try {
        copy(
            from,
            to,
            (bytes, length) -> {
              Moment moment = asked(bytes, length);
              if (moment != null && moment.answered()) {
                open = moment;
              } else if (moment != null) {
                come(moment);
              }
            });
      } finally {
        to.close();
      }
    }

    @Nullable Void answers(Socket from, Socket to) throws IOException {
      try {
        copy(
            from,
            to,
            (bytes, length) -> {
              Moment moment = open;
              if (moment != null && !interim(bytes, length)) {
                open = null;
                come(moment);
              }
            });
      } finally {
        to.close();
      }
      return null;
    }
  }

  private static boolean interim(byte[] bytes, int length) {
    String head = new String(bytes, 0, Math.min(length, 12), StandardCharsets.ISO_8859_1);
    return head.equals("HTTP/1.1 100");
  }

  private interface Look {
    void at(byte[] bytes, int length);
  }

  private static void copy(Socket from, Socket to, Look look) throws IOException {
    InputStream in = from.getInputStream();
    OutputStream out = to.getOutputStream();
    byte[] piece = new byte[PIECE];
    for (int count = in.read(piece); count >= 0; count = in.read(piece)) {
      look.at(piece, count);
      out.write(piece, 0, count);
      out.flush();
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
    threads.shutdownNow();
  }
}
