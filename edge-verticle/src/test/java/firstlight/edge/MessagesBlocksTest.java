package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.MeshException;
import firstlight.protocol.Settings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Goal: streamed blocks are the plain ones, one after the other, however the text comes. */
class MessagesBlocksTest {
  private static final Json JSON =
      new Json(EdgeConfig.read(Settings.parse("open: true", _ -> null)).limits());

  private static MessagesBlocks blocks() {
    return new MessagesBlocks(new MarkedParser(), call -> "toolu_" + call, JSON);
  }

  /** Puts the content together as Anthropic's clients do, and checks the order on the way. */
  static ArrayNode joined(List<MessagesBlocks.Event> events) {
    ArrayNode content = Json.array();
    StringBuilder input = new StringBuilder();
    boolean open = false;
    for (MessagesBlocks.Event event : events) {
      JsonNode data = event.data();
      assertThat(data.get("type").asText()).isEqualTo(event.name());
      switch (event.name()) {
        case "content_block_start" -> {
          assertThat(open).isFalse();
          assertThat(data.get("index").asInt()).isEqualTo(content.size());
          content.add(data.get("content_block").deepCopy());
          open = true;
        }
        case "content_block_delta" -> {
          assertThat(open).isTrue();
          ObjectNode block = (ObjectNode) content.get(data.get("index").asInt());
          String type = block.get("type").asText();
          assertThat(data.at("/delta/type").asText())
              .isEqualTo(type.equals("tool_use") ? "input_json_delta" : type + "_delta");
          if (type.equals("tool_use")) {
            input.append(data.at("/delta/partial_json").asText());
          } else {
            block.put(type, block.get(type).asText() + data.get("delta").get(type).asText());
          }
        }
        case "content_block_stop" -> {
          assertThat(open).isTrue();
          assertThat(data.get("index").asInt()).isEqualTo(content.size() - 1);
          if (!input.isEmpty()) {
            ((ObjectNode) content.get(content.size() - 1)).set("input", input(input.toString()));
            input.setLength(0);
          }
          open = false;
        }
        default -> throw new AssertionError(event.name());
      }
    }
    assertThat(open).isFalse();
    return content;
  }

  /** What was cut off is no JSON, and no input. */
  private static JsonNode input(String json) {
    try {
      return JSON.value(json);
    } catch (MeshException e) {
      return Json.object();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "plain text",
        "[hm, two]so:<w|{\"c\":[1]}><v|{}>done",
        "<w|{\"c\":\"x\"}>",
        "[only thoughts]",
        "<never a call"
      })
  void every_split_of_the_text_gives_the_same_blocks(String text) {
    MessagesBlocks whole = blocks();
    whole.next(text);
    whole.end();
    for (int cut = 0; cut <= text.length(); cut++) {
      MessagesBlocks streamed = blocks();
      List<MessagesBlocks.Event> events = new ArrayList<>(streamed.next(text.substring(0, cut)));
      events.addAll(streamed.next(text.substring(cut)));
      events.addAll(streamed.end());

      assertThat(joined(events)).isEqualTo(whole.content());
    }
  }

  @Test
  void calls_are_blocks_with_their_input_as_an_object() {
    MessagesBlocks blocks = blocks();
    blocks.next("[hm]so<w|{\"c\":[1]}><v|{\"cut");
    blocks.end();

    JsonNode content = blocks.content();

    assertThat(content.findValuesAsText("type"))
        .containsExactly("thinking", "text", "tool_use", "tool_use");
    assertThat(content.get(0).toString())
        .isEqualTo("{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"\"}");
    assertThat(content.at("/2/id").asText()).startsWith("toolu_");
    assertThat(content.at("/2/name").asText()).isEqualTo("w");
    assertThat(content.at("/2/input").toString()).isEqualTo("{\"c\":[1]}");
    assertThat(content.at("/3/input").toString()).isEqualTo("{}");
    assertThat(blocks.hasCalls()).isTrue();
  }
}
