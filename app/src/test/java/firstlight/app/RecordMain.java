package firstlight.app;

import static firstlight.app.Client.object;
import static firstlight.app.Served.COMPLETIONS;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.model.AnswerRules;
import firstlight.model.ChatTemplate;
import firstlight.model.TestModels;
import firstlight.model.Tokenizer;
import firstlight.model.Tool;
import firstlight.model.ToolChoice;
import firstlight.model.ToolFormat;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Records what the real model says, for tests that cut it at every place: {@code RecordMain FILE}
 * writes one generation a line. A grammar makes the model write the calls of families whose models
 * are not at hand. With the same seeds and the same numerics the file stays the same.
 */
final class RecordMain {
  private static final int ABREAST = 16;
  private static final String CHAT = "<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n";

  private final Tokenizer tokenizer = TestModels.smollm2Model().tokenizer();
  private final List<String> forms = new ArrayList<>();
  private final List<ObjectNode> bodies = new ArrayList<>();

  private RecordMain() {}

  public static void main(String[] arguments) throws Exception {
    RecordMain recording = new RecordMain();
    recording.ask();
    List<String> lines = new ArrayList<>();
    try (Served served = SharedFirstlight.start()) {
      for (int from = 0; from < recording.bodies.size(); from += ABREAST) {
        int to = Math.min(recording.bodies.size(), from + ABREAST);
        List<JsonNode> answers = served.crowd(COMPLETIONS, recording.bodies.subList(from, to));
        for (int i = from; i < to; i++) {
          for (JsonNode choice : answers.get(i - from).get("choices")) {
            lines.add(recording.line(i, choice));
          }
        }
      }
    }
    Files.write(Path.of(arguments[0]), lines);
    System.out.printf("%d generations%n", lines.size());
  }

  private void ask() {
    for (int i = 0; i < 24; i++) {
      add("plain", talk("Tell me about the number %d.".formatted(i), 16 + i % 9), i);
      add("plain", utf8(i), i);
    }
    for (int i = 0; i < 10; i++) {
      add("plain", talk("Name a colour and a reason.", 14).put("n", 2), i);
      ObjectNode stopping = talk("Count from %d to 20.".formatted(i), 40);
      List<String> stops = List.of("\n", ". ", "1", "the", "5", "é", " a");
      stopping.putArray("stop").add(stops.get(i % 7)).add(stops.get((i + 3) % 7)).add("10\n11");
      add("stop", stopping, i);
      add("json", json(i), i);
    }
    String hermes = "{{ tools }} <tool_call> tool_calls";
    for (int i = 0; i < 16; i++) {
      calling("hermes", hermes, i);
      calling("thinking", hermes + " <think>", i);
      calling("llama", "{{ tools }} <|python_tag|> tool_calls", i);
      calling("mistral", "{{ tools }} [TOOL_CALLS] tool_calls", i);
      calling("named", "{{ tools }} [TOOL_CALLS] [ARGS] tool_calls", i);
      calling("python", "{{ tools }} [func_name1(a=1)] tool_calls", i);
      calling("code", "<start_of_turn>", i);
    }
  }

  private void add(String form, ObjectNode body, int seed) {
    bodies.add(
        body.put("seed", seed)
            .put("temperature", seed % 3 * 0.5)
            .put("logprobs", 1)
            .put("return_token_ids", true));
    forms.add(form);
  }

  private static ObjectNode talk(String text, int tokens) {
    return Served.completion(Served.SMOLLM2, CHAT.formatted(text), tokens);
  }

  private static ObjectNode utf8(int i) {
    List<String> prompts =
        List.of(
            "Repeat: 🦙 🦙 🦙 ",
            "日本語の文章です。日本語の",
            "щёчки щёчки щёчки",
            "émoji: 👩\u200d👩\u200d👧 👩\u200d👩\u200d👧 ",
            "x\u2028y\u2028x\u2028",
            "안녕하세요 안녕하세요 ");
    return Served.completion(Served.SMOLLM2, prompts.get(i % 6), 9 + i);
  }

  private static ObjectNode json(int i) {
    ObjectNode body = talk("Make up a person number %d.".formatted(i), 40);
    ObjectNode schema =
        object("{\"type\":\"object\",\"required\":[\"größe\",\"name\"],\"properties\":{}}");
    ObjectNode properties =
        (ObjectNode) schema.put("additionalProperties", false).get("properties");
    properties.putObject("größe").put("type", "integer").put("minimum", 0).put("maximum", 300);
    properties.putObject("name").putArray("enum").add("Zoë 🦙").add("李 \"x\"").add("щёчки");
    body.putObject("structured_outputs").set("json", schema);
    return body;
  }

  private static List<Tool> tools() {
    Map<String, Object> city = Map.of("enum", List.of("Oslo", "Kraków", "東京 \"x\"", "it's"));
    Map<String, Object> days = Map.of("type", "integer", "minimum", -3, "maximum", 90);
    Map<String, Object> weather =
        Map.of(
            "type",
            "object",
            "properties",
            Map.of("c", city),
            "required",
            List.of("c"),
            "additionalProperties",
            false);
    Map<String, Object> plan =
        Map.of(
            "type",
            "object",
            "properties",
            Map.of("d", Map.of("type", "array", "items", days, "maxItems", 2)),
            "required",
            List.of("d"),
            "additionalProperties",
            false);
    return List.of(tool("get_w", weather), tool("plan", plan));
  }

  private static Tool tool(String name, Map<String, Object> parameters) {
    Map<String, Object> function = Map.of("name", name, "parameters", parameters);
    return new Tool(name, Map.of("type", "function", "function", function), parameters, true);
  }

  /** Half of them must call, the others may. */
  private void calling(String form, String template, int i) {
    ToolFormat format = ToolFormat.of(ChatTemplate.compile(template, tokenizer));
    ToolChoice choice = i % 2 == 0 ? ToolChoice.REQUIRED : ToolChoice.AUTO;
    String grammar =
        format
            .grammar(new AnswerRules(tools(), choice, i % 4 < 2, Optional.empty()), "")
            .orElseThrow()
            .toString();
    ObjectNode body = talk("Weather in city %d? Call get_w.".formatted(i), i % 5 == 4 ? 12 : 44);
    body.putObject("structured_outputs").put("grammar", grammar);
    add(form, body, i);
  }

  /** Bytes are written as Latin-1; a control token has none. */
  private String line(int i, JsonNode choice) {
    ObjectNode line = object("{}").put("form", forms.get(i));
    line.set("text", choice.get("text"));
    line.set("stop", bodies.get(i).path("stop"));
    line.set("reason", choice.get("finish_reason"));
    ArrayNode tokens = line.putArray("tokens");
    JsonNode logprobs = choice.get("logprobs");
    List<Integer> ids = Served.ids(choice.get("token_ids"));
    for (int t = 0; t < ids.size(); t++) {
      ArrayNode token = tokens.addArray().add(ids.get(t)).add(latin1(tokenizer.bytes(ids.get(t))));
      token.add(rounded(logprobs.get("token_logprobs").get(t)));
    }
    return line.toString();
  }

  private static double rounded(JsonNode logprob) {
    return Math.round(logprob.asDouble() * 1_000) / 1_000.0;
  }

  private static String latin1(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }
}
