package firstlight.app;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiConsumer;

/**
 * Stands between a client and Firstlight, hands on what each says as it comes, and notes it. Bodies
 * of requests can be changed on the way.
 */
final class Relay implements AutoCloseable {
  private static final int PIECE = 8192;

  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<Exchange> exchanges = new CopyOnWriteArrayList<>();
  private final URI target;
  private final BiConsumer<Integer, ObjectNode> change;

  /** A request as it was handed on, and the whole answer. */
  record Exchange(String path, ObjectNode request, int status, String answer) {}

  /**
   * @param change gets the number of a POST, from 0, and its body
   */
  Relay(URI target, BiConsumer<Integer, ObjectNode> change) throws IOException {
    this.target = target;
    this.change = change;
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", this::handOn);
    server.start();
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  /** All so far, in the order in which they ended. */
  List<Exchange> exchanges() {
    return exchanges;
  }

  private void handOn(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().toString();
    HttpRequest.Builder request = HttpRequest.newBuilder(target.resolve(path));
    for (String name : List.of("Authorization", "Content-Type", "Accept")) {
      String value = exchange.getRequestHeaders().getFirst(name);
      if (value != null) {
        request.header(name, value);
      }
    }
    ObjectNode body = Client.object("{}");
    if (exchange.getRequestMethod().equals("POST")) {
      body = (ObjectNode) Client.JSON.readTree(exchange.getRequestBody());
      change.accept(exchanges.size(), body);
      request.POST(BodyPublishers.ofString(body.toString()));
    }
    try (exchange) {
      HttpResponse<InputStream> answer = http.send(request.build(), BodyHandlers.ofInputStream());
      answer
          .headers()
          .firstValue("Content-Type")
          .ifPresent(type -> exchange.getResponseHeaders().set("Content-Type", type));
      exchange.sendResponseHeaders(answer.statusCode(), 0);
      String text = copy(answer.body(), exchange.getResponseBody());
      exchanges.add(new Exchange(path, body, answer.statusCode(), text));
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private static String copy(InputStream from, OutputStream to) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] piece = new byte[PIECE];
    for (int count = from.read(piece); count >= 0; count = from.read(piece)) {
      to.write(piece, 0, count);
      to.flush();
      all.write(piece, 0, count);
    }
    return all.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
    http.shutdownNow();
  }
}
