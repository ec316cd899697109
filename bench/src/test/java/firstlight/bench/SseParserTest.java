package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class SseParserTest {
  private static final String STREAM =
      "data: {\"a\":\"ä\"}\n\n"
          + ": silence\n\n"
          + "event: x\r\n"
          + "data:one\r\n"
          + "data: two\r\n\r\n"
          + "data: [DONE]\n\n";

  private static List<String> parsed(int pieceBytes) {
    List<String> events = new ArrayList<>();
    SseParser parser = new SseParser(1_000, events::add);
    byte[] bytes = STREAM.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < bytes.length; i += pieceBytes) {
      parser.feed(Arrays.copyOfRange(bytes, i, Math.min(bytes.length, i + pieceBytes)));
    }
    return events;
  }

  @Test
  void events_are_the_same_however_the_stream_is_cut() {
    for (int piece = 1; piece <= STREAM.length(); piece++) {
      assertThat(parsed(piece)).containsExactly("{\"a\":\"ä\"}", "one\ntwo", "[DONE]");
    }
  }

  @Test
  void an_event_without_end_is_not_kept_for_ever() {
    SseParser parser = new SseParser(10, _ -> {});
    assertThatThrownBy(() -> parser.feed("data: 0123456789".getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void text_usage_and_errors_of_a_chat_are_read() {
    ChatEvent text = ChatEvent.read("{\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}");
    assertThat(text).isEqualTo(new ChatEvent(true, -1, -1, "", -1));
    ChatEvent usage =
        ChatEvent.read(
            "{\"choices\":[],\"usage\":{\"prompt_tokens\":200,\"completion_tokens\":64}}");
    assertThat(usage).isEqualTo(new ChatEvent(false, 200, 64, "", -1));
    assertThat(ChatEvent.read("{\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}").hasText())
        .isFalse();
    assertThat(ChatEvent.read("{\"error\":{\"message\":\"gone\"}}").error()).contains("gone");
    assertThat(ChatEvent.read("[DONE]").error()).isEmpty();
    assertThat(ChatEvent.read("{").error()).contains("no JSON");
  }
}
