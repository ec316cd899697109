package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A stream of server-sent events that has ended, read strictly: every line by itself is UTF-8,
 * every event ends with a blank line, and its data is one JSON value.
 *
 * @param lines as they came
 * @param done how often {@code [DONE]} came; it must be last
 */
record Sse(int status, String contentType, List<String> lines, List<JsonNode> events, int done) {
  private static final String DATA = "data: ";

  static Sse of(HttpResponse<byte[]> response) {
    try {
      List<String> lines = lines(response.body());
      List<JsonNode> events = new ArrayList<>();
      int done = 0;
      String type = response.headers().firstValue("content-type").orElse("");
      if (response.statusCode() == 200 && type.startsWith("text/event-stream")) {
        assertThat(lines.getLast()).as("the last event's blank line").isEmpty();
        for (String line : lines) {
          assertThat(done == 0 || line.isEmpty()).as("nothing after [DONE]: %s", line).isTrue();
          if (line.equals(DATA + "[DONE]")) {
            done++;
          } else if (line.startsWith(DATA)) {
            events.add(Client.JSON.readTree(line.substring(DATA.length())));
          }
        }
      }
      return new Sse(response.statusCode(), type, lines, events, done);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> lines(byte[] body) throws IOException {
    List<String> lines = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < body.length; i++) {
      if (body[i] == '\n') {
        ByteBuffer line = ByteBuffer.wrap(Arrays.copyOfRange(body, start, i));
        lines.add(StandardCharsets.UTF_8.newDecoder().decode(line).toString());
        start = i + 1;
      }
    }
    assertThat(start).as("the last line is ended").isEqualTo(body.length);
    return lines;
  }

  /** What was streamed for one choice of a chat or a completion. */
  String text(int choice) {
    StringBuilder text = new StringBuilder();
    for (JsonNode event : events) {
      for (JsonNode one : event.path("choices")) {
        if (one.get("index").asInt() == choice) {
          text.append(one.path("text").asText("")).append(one.at("/delta/content").asText(""));
        }
      }
    }
    return text.toString();
  }

  /** Why a choice ended; it must say so exactly once, and nothing after it. */
  String reason(int choice) {
    List<String> reasons = new ArrayList<>();
    for (JsonNode event : events) {
      for (JsonNode one : event.path("choices")) {
        if (one.get("index").asInt() == choice) {
          assertThat(reasons).as("nothing comes after the end of choice %d", choice).isEmpty();
          if (!one.path("finish_reason").isNull()) {
            reasons.add(one.get("finish_reason").asText());
          }
        }
      }
    }
    assertThat(reasons).as("ends of choice %d", choice).hasSize(1);
    return reasons.getFirst();
  }

  /** Those that belong to no choice. */
  List<JsonNode> withoutChoices() {
    return events.stream().filter(event -> event.path("choices").isEmpty()).toList();
  }
}
