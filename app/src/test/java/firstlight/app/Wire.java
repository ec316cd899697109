package firstlight.app;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** One TCP connection, for what a well-bred client of HTTP does not send. */
final class Wire implements AutoCloseable {
  private static final int TIMEOUT_MILLIS = 10_000;

  private final Socket socket;

  Wire(URI address) throws IOException {
    socket = new Socket(address.getHost(), address.getPort());
    socket.setSoTimeout(TIMEOUT_MILLIS);
  }

  /** Sends lines with CRLF after each, a blank one, and the body. */
  Wire send(String body, String... lines) throws IOException {
    String head = String.join("\r\n", lines) + "\r\n\r\n";
    socket.getOutputStream().write((head + body).getBytes(StandardCharsets.UTF_8));
    return this;
  }

  /** The first line of the answer. */
  String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    InputStream in = socket.getInputStream();
    for (int c = in.read(); c >= 0 && c != '\r' && c != '\n'; c = in.read()) {
      line.write(c);
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  /** All that comes until the other side closes. */
  String rest() throws IOException {
    return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** Reads until the text has come. */
  void await(String text) throws IOException {
    StringBuilder seen = new StringBuilder();
    InputStream in = socket.getInputStream();
    while (seen.indexOf(text) < 0) {
      int c = in.read();
      if (c < 0) {
        throw new IOException("the stream ended: " + seen);
      }
      seen.append((char) c);
    }
  }

  /** Leaves with RST, as a client does that dies. */
  void reset() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
