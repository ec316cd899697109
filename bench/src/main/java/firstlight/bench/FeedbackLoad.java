package firstlight.bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Clients that give feedback over kept connections, each the next once the last was accepted. They
 * write and read as little as they can: they run beside what they load.
 */
final class FeedbackLoad {
  private static final String LENGTH = "content-length:";
  private static final String ACCEPTED = "HTTP/1.1 202";
  private static final int LINE_MAX = 8_192;

  private final int port;
  private final int connections;
  private final AtomicInteger given = new AtomicInteger();

  FeedbackLoad(int port, int connections) {
    this.port = port;
    this.connections = connections;
  }

  /**
   * Gives so many; returns when all were accepted.
   *
   * @throws BenchFailure one was not
   */
  void give(int count) {
    AtomicInteger left = new AtomicInteger(count);
    List<Future<?>> clients = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(connections)) {
      for (int i = 0; i < connections; i++) {
        clients.add(
            threads.submit(
                () -> {
                  client(left);
                  return true;
                }));
      }
      for (Future<?> client : clients) {
        client.get();
      }
    } catch (ExecutionException e) {
      throw new BenchFailure("feedback was not accepted: " + e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchFailure("interrupted", e);
    }
  }

  private void client(AtomicInteger left) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setTcpNoDelay(true);
      InputStream in = new BufferedInputStream(socket.getInputStream());
      while (left.getAndDecrement() > 0) {
        socket.getOutputStream().write(request(given.incrementAndGet()));
        read(in);
      }
    }
  }

  private static byte[] request(int number) {
    String body =
        ("{\"target\":{\"response_id\":\"resp_%024d\"},\"name\":\"helpfulness\",\"value\":0.%d,"
                + "\"comment\":\"The answer was short and to the point.\",\"source\":\"user\"}")
            .formatted(number, number % 10);
    String head =
        "POST /v1/feedback HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
            + "content-length: "
            + body.length()
            + "\r\n\r\n";
    return (head + body).getBytes(StandardCharsets.US_ASCII);
  }

  private static void read(InputStream in) throws IOException {
    String status = line(in);
    long length = 0;
    for (String line = line(in); !line.isEmpty(); line = line(in)) {
      if (line.regionMatches(true, 0, LENGTH, 0, LENGTH.length())) {
        length = Long.parseLong(line.substring(LENGTH.length()).trim());
      }
    }
    byte[] body = in.readNBytes((int) length);
    if (!status.startsWith(ACCEPTED)) {
      throw new IOException(status + ": " + new String(body, StandardCharsets.UTF_8));
    }
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0 || line.length() > LINE_MAX) {
        throw new IOException("the connection ended");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }
}
