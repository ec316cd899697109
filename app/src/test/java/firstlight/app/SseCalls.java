package firstlight.app;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Calls of one edge that cost the client little: a socket each, and lines read as they come. */
final class SseCalls {
  private static final int SILENCE_MS = 30_000;
  private static final String DATA = "data: ";
  private static final String ERROR = "{\"error\":";
  private static final String ID = "\"id\":\"";

  private final int port;
  private final String key;

  SseCalls(int port, String key) {
    this.port = port;
    this.key = key;
  }

  /**
   * How a stream went.
   *
   * @param id empty: nothing came
   * @param failure what came instead of its end; empty: it ended as it should
   */
  record Streamed(String id, String failure) {
    boolean whole() {
      return failure.isEmpty();
    }
  }

  /** Reads a stream of server-sent events to its end, and measures it. */
  Streamed stream(String path, JsonNode body, Latencies latencies) {
    String id = "";
    long before = System.nanoTime();
    try (Socket socket = send(path, body);
        BufferedReader lines = reader(socket)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.equals(DATA + "[DONE]")) {
          return new Streamed(id, "");
        }
        // What a model says may have this word, too.
        if (line.startsWith(ERROR) || line.startsWith(DATA + ERROR)) {
          return new Streamed(id, line);
        }
        if (!line.startsWith(DATA)) {
          continue;
        }
        long now = System.nanoTime();
        if (id.isEmpty()) {
          id = id(line);
          latencies.first((now - before) / 1_000);
        } else {
          latencies.between((now - before) / 1_000);
        }
        before = now;
      }
    } catch (IOException e) {
      return new Streamed(id, e.toString());
    }
    return new Streamed(id, "it ended too early");
  }

  private static String id(String line) {
    int start = line.indexOf(ID) + ID.length();
    return line.substring(start, line.indexOf('"', start));
  }

  /** The status of the answer. */
  int post(String path, JsonNode body) throws IOException {
    try (Socket socket = send(path, body);
        BufferedReader lines = reader(socket)) {
      String status = lines.readLine();
      if (status == null) {
        throw new IOException("no answer");
      }
      return Integer.parseInt(status.split(" ")[1]);
    }
  }

  private Socket send(String path, JsonNode body) throws IOException {
    byte[] content = body.toString().getBytes(StandardCharsets.UTF_8);
    String head =
        """
        POST %s HTTP/1.1\r
        Host: 127.0.0.1\r
        Authorization: Bearer %s\r
        Content-Type: application/json\r
        Content-Length: %d\r
        Connection: close\r
        \r
        """
            .formatted(path, key, content.length);
    Socket socket = new Socket();
    try {
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(SILENCE_MS);
      socket.connect(new InetSocketAddress("127.0.0.1", port));
      byte[] all =
          (head + new String(content, StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
      socket.getOutputStream().write(all);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  private static BufferedReader reader(Socket socket) throws IOException {
    return new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }
}
