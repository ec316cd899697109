package firstlight.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

/** A client of Firstlight's HTTP interface, for tests. */
final class Client implements AutoCloseable {
  static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LIMIT = Duration.ofSeconds(120);

  // HTTP/1.1: each stream on a connection of its own, as most clients have it.
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI base;
  private final String key;

  Client(URI base, String key) {
    this.base = base;
    this.key = key;
  }

  /** An answer with its status. */
  record Answer(int status, JsonNode body) {}

  /** The data of a stream's events, in order, and what the answer's first line said. */
  record Streamed(int status, List<JsonNode> events, boolean done) {}

  static ObjectNode object(String json) {
    try {
      return (ObjectNode) JSON.readTree(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private HttpRequest.Builder request(String path) {
    HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve(path)).timeout(LIMIT);
    if (!key.isEmpty()) {
      request.header("Authorization", "Bearer " + key);
    }
    return request;
  }

  private HttpRequest post(String path, JsonNode body) {
    return request(path)
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofString(body.toString()))
        .build();
  }

  Answer send(String path, JsonNode body) throws Exception {
    return sendLater(path, body).get();
  }

  CompletableFuture<Answer> sendLater(String path, JsonNode body) {
    return http.sendAsync(post(path, body), BodyHandlers.ofString()).thenApply(Client::answer);
  }

  Answer get(String path) throws Exception {
    return answer(http.send(request(path).GET().build(), BodyHandlers.ofString()));
  }

  String text(String path) throws Exception {
    return http.send(request(path).GET().build(), BodyHandlers.ofString()).body();
  }

  private static Answer answer(HttpResponse<String> response) {
    try {
      return new Answer(response.statusCode(), JSON.readTree(response.body()));
    } catch (IOException e) {
      throw new UncheckedIOException(response.body(), e);
    }
  }

  Streamed stream(String path, JsonNode body) throws Exception {
    return streamLater(path, body).get();
  }

  CompletableFuture<Streamed> streamLater(String path, JsonNode body) {
    return http.sendAsync(post(path, body), BodyHandlers.ofLines()).thenApply(Client::events);
  }

  private static Streamed events(HttpResponse<Stream<String>> response) {
    List<JsonNode> events = new ArrayList<>();
    boolean done = false;
    for (String line : response.body().toList()) {
      if (line.equals("data: [DONE]")) {
        done = true;
      } else if (line.startsWith("data: ")) {
        events.add(object(line.substring("data: ".length())));
      }
    }
    return new Streamed(response.statusCode(), events, done);
  }

  HttpClient http() {
    return http;
  }

  URI base() {
    return base;
  }

  @Override
  public void close() {
    http.close();
  }
}
