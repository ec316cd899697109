package firstlight.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** One turn over a WebSocket of its own: the events as they came, each as its whole text. */
final class SocketTurn implements WebSocket.Listener {
  private static final long LIMIT_SECONDS = 60;
  private static final Set<String> LAST =
      Set.of("response.completed", "response.incomplete", "response.failed", "error");

  private final StringBuilder message = new StringBuilder();
  private final List<String> messages = new ArrayList<>();
  private final CompletableFuture<List<String>> all = new CompletableFuture<>();

  private SocketTurn() {}

  /** What was sent for {@code response.create} with the request's fields, up to its last event. */
  static List<String> events(Served served, ObjectNode request) throws Exception {
    URI http = served.address();
    URI address = URI.create("ws://" + http.getAuthority() + Served.RESPONSES);
    SocketTurn turn = new SocketTurn();
    try (HttpClient client = HttpClient.newHttpClient()) {
      WebSocket socket =
          client
              .newWebSocketBuilder()
              .header("Authorization", "Bearer test-key-a")
              .buildAsync(address, turn)
              .get(LIMIT_SECONDS, TimeUnit.SECONDS);
      socket.sendText(request.deepCopy().put("type", "response.create").toString(), true);
      try {
        return turn.all.get(LIMIT_SECONDS, TimeUnit.SECONDS);
      } finally {
        socket.abort();
      }
    }
  }

  /** The pieces of the answer's text, joined. */
  static String text(List<String> events) throws Exception {
    StringBuilder text = new StringBuilder();
    for (String event : events) {
      JsonNode json = Client.JSON.readTree(event);
      if (json.get("type").asText().equals("response.output_text.delta")) {
        text.append(json.get("delta").asText());
      }
    }
    return text.toString();
  }

  @Override
  public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
    message.append(data);
    if (last) {
      add(message.toString());
      message.setLength(0);
    }
    socket.request(1);
    return null;
  }

  private void add(String event) {
    messages.add(event);
    try {
      if (LAST.contains(Client.JSON.readTree(event).path("type").asText())) {
        all.complete(List.copyOf(messages));
      }
    } catch (Exception e) {
      all.completeExceptionally(e);
    }
  }

  @Override
  public void onError(WebSocket socket, Throwable error) {
    all.completeExceptionally(error);
  }

  @Override
  public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
    all.completeExceptionally(new AssertionError("closed: " + code + " " + reason));
    return null;
  }
}
