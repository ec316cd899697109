package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FinishReason;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** Responses over every transport, whose every object is checked by the specification's schemas. */
final class CheckedResponses implements AutoCloseable {
  /** The events of an Item's life, deltas in a row once: a call, or something with one part. */
  private static final String LIFE =
      "output_item.added (content_part.added ((output_text|reasoning).delta )?"
          + "(output_text|reasoning).done content_part.done"
          + "|(function_call_arguments.delta )?function_call_arguments.done) output_item.done ";

  final ResponsesServer server = new ResponsesServer();
  private final ResponseSchemas schemas = ResponseSchemas.load();

  /** How a Response comes. */
  enum Transport {
    WHOLE,
    STREAMED,
    WEB_SOCKET
  }

  /** Each of them over each transport. */
  static <T> Stream<Arguments> everyWay(List<T> scenarios) {
    return scenarios.stream()
        .flatMap(one -> Stream.of(Transport.values()).map(way -> Arguments.of(one, way)));
  }

  CheckedResponses() {
    server.turns.parseWith(MarkedParser::new);
  }

  /** What the model writes from now on, each character a token, and why it ends. */
  void writing(String answer, FinishReason reason) {
    server.turns.answer(answer.codePoints().mapToObj(Character::toString).toArray(String[]::new));
    server.turns.endWith(reason);
  }

  /**
   * The Response to a request.
   *
   * @param fields of the request but its model, in single quotes
   */
  JsonNode ask(String fields, Transport transport) throws IOException {
    String body = "{'model':'m'," + fields;
    return switch (transport) {
      case WHOLE -> {
        ObjectNode response = server.create(body + "}");
        check(response);
        yield response;
      }
      case STREAMED -> checked(server.events(server.post(body + ",'stream':true}")));
      case WEB_SOCKET -> {
        try (WebSocketClient client = new WebSocketClient(server)) {
          client.create(fields);
          yield checked(client.response());
        }
      }
    };
  }

  /** The error of a request that must be refused before its first event. */
  JsonNode refused(String fields, Transport transport, int status) throws IOException {
    ObjectNode error;
    if (transport == Transport.WEB_SOCKET) {
      try (WebSocketClient client = new WebSocketClient(server)) {
        client.create(fields);
        ObjectNode event = client.response().getFirst();
        schemas.check("WebSocketErrorEvent", event);
        assertThat(event.get("status").intValue()).isEqualTo(status);
        error = (ObjectNode) event.get("error");
      }
    } else {
      String streamed = transport == Transport.STREAMED ? ",'stream':true}" : "}";
      HttpResponse<String> answer = server.post("{'model':'m'," + fields + streamed);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
      error = (ObjectNode) server.object(answer).get("error");
    }
    schemas.check("ErrorPayload", error);
    return error;
  }

  /** Fails unless it is a Response of the specification. */
  void check(ObjectNode response) {
    schemas.check("ResponseResource", response);
  }

  /** The Response at the end of a stream's events, once they are found to be as they should. */
  JsonNode checked(List<ObjectNode> events) {
    List<String> lives = new ArrayList<>();
    for (int i = 0; i < events.size(); i++) {
      ObjectNode event = events.get(i);
      schemas.checkEvent(event);
      assertThat(event.get("sequence_number").intValue()).isEqualTo(i);
      if (event.has("output_index")) {
        int index = event.get("output_index").intValue();
        String type = event.get("type").textValue().substring("response.".length());
        if (index == lives.size()) {
          lives.add("");
        }
        assertThat(index).as("one Item after another").isEqualTo(lives.size() - 1);
        if (!(type.endsWith(".delta") && lives.getLast().endsWith(type + " "))) {
          lives.set(index, lives.getLast() + type + " ");
        }
      }
    }
    JsonNode response = events.getLast().get("response");
    assertThat(response.get("output").size()).isEqualTo(lives.size());
    if (response.get("status").textValue().equals("failed")) {
      assertThat(lives.removeLast()).as("left in the middle").doesNotContain("done");
    }
    assertThat(lives).as("from added to done").allMatch(life -> life.matches(LIFE));
    return response;
  }

  /** What the model must have written for these Items. */
  static String written(JsonNode output) {
    StringBuilder written = new StringBuilder();
    for (JsonNode item : output) {
      String text = item.at("/content/0/text").asText();
      boolean whole = item.get("status").textValue().equals("completed");
      written.append(
          switch (item.get("type").textValue()) {
            case "message" -> text;
            case "reasoning" -> "[" + text + (whole ? "]" : "");
            default ->
                "<%s|%s".formatted(item.get("name").textValue(), item.get("arguments").textValue())
                    + (whole ? ">" : "");
          });
    }
    return written.toString();
  }

  @Override
  public void close() {
    server.close();
  }
}
