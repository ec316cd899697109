package firstlight.app;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
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

  Wire send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    return this;
  }

  /** Sends nothing any more; the other side sees the end of what is sent. */
  void halfClose() throws IOException {
    socket.shutdownOutput();
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

  /**
   * All bytes, one character each, until the other side closes or resets.
   *
   * @throws SocketTimeoutException it does neither
   */
  String untilGone() throws SocketTimeoutException {
    ByteArrayOutputStream heard = new ByteArrayOutputStream();
    try {
      socket.getInputStream().transferTo(heard);
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (IOException _) {
      // A reset is an end, too.
    }
    return heard.toString(StandardCharsets.ISO_8859_1);
  }

  /** So many bytes, one character each, or fewer when the other side closes or resets before. */
  String upTo(int bytes) throws SocketTimeoutException {
    try {
      return new String(socket.getInputStream().readNBytes(bytes), StandardCharsets.ISO_8859_1);
    } catch (SocketTimeoutException e) {
      throw e;
    } catch (IOException _) {
      return "";
    }
  }

  /** Reads until the text has come, and gives what came, one character for each byte. */
  String await(String text) throws IOException {
    StringBuilder seen = new StringBuilder();
    InputStream in = socket.getInputStream();
    while (seen.indexOf(text) < 0) {
      int c = in.read();
      if (c < 0) {
        throw new IOException("the stream ended: " + seen);
      }
      seen.append((char) c);
    }
    return seen.toString();
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
