package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.model.AnswerParser;
import firstlight.model.ChatTemplate;
import firstlight.model.ToolFormat;
import firstlight.model.Utf8Stream;
import firstlight.protocol.FinishReason;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a real model once said, token by token. A grammar made it write the calls of each family.
 *
 * @param form of its text: whose notation its calls have
 * @param text as its client got it, without a stop string
 * @param stop strings that ended it, if one did
 */
record RecordedGeneration(
    String form, String text, List<String> stop, FinishReason reason, List<TurnToken> tokens) {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** Short templates by which a family's notation is known; others have neither calls nor marks. */
  private static final Map<String, String> TEMPLATES =
      Map.of(
          "hermes", "{{ tools }} <tool_call> tool_calls",
          "thinking", "{{ tools }} <tool_call> tool_calls <think>",
          "llama", "{{ tools }} <|python_tag|> tool_calls",
          "mistral", "{{ tools }} [TOOL_CALLS] tool_calls",
          "named", "{{ tools }} [TOOL_CALLS] [ARGS] tool_calls",
          "python", "{{ tools }} [func_name1(a=1)] tool_calls",
          "code", "<start_of_turn>");

  /** All that were recorded. */
  static List<RecordedGeneration> all() {
    List<RecordedGeneration> all = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                RecordedGeneration.class.getResourceAsStream("/generations.jsonl"),
                StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        all.add(of(MAPPER.readTree(line)));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all;
  }

  private static RecordedGeneration of(JsonNode line) {
    List<TurnToken> tokens = new ArrayList<>();
    TurnToken.@Nullable Alternative before = null;
    for (JsonNode token : line.get("tokens")) {
      byte[] bytes = token.get(1).asText().getBytes(StandardCharsets.ISO_8859_1);
      var own = new TurnToken.Alternative(token.get(0).asInt(), bytes, token.get(2).floatValue());
      // What was likely instead was not recorded; any two tokens will do.
      List<TurnToken.Alternative> top = before == null ? List.of(own) : List.of(own, before);
      tokens.add(new TurnToken(own.id(), bytes, own.logprob(), top));
      before = own;
    }
    List<String> stop = new ArrayList<>();
    line.get("stop").forEach(one -> stop.add(one.asText()));
    FinishReason reason =
        line.get("reason").asText().equals("length")
            ? FinishReason.LENGTH
            : stop.isEmpty() ? FinishReason.END : FinishReason.STOP;
    return new RecordedGeneration(
        line.get("form").asText(), line.get("text").asText(), stop, reason, tokens);
  }

  /** Makes parsers for its text. */
  Supplier<AnswerParser> parsers() {
    String template = TEMPLATES.get(form);
    if (template == null) {
      return AnswerParser::plain;
    }
    ToolFormat format = ToolFormat.of(ChatTemplate.compile(template, new ByteTokenizer()));
    return () -> format.parser(true, "");
  }

  /**
   * The Deltas of its tokens in frames, as an edge makes them of what a replica sends.
   *
   * @param ends of the frames but the last, as numbers of tokens
   */
  List<TurnEvent.Delta> deltas(int choice, int... ends) {
    List<TurnEvent.Delta> deltas = new ArrayList<>();
    Utf8Stream characters = new Utf8Stream();
    int from = 0;
    int sent = 0;
    int[] all = Arrays.copyOf(ends, ends.length + 1);
    all[ends.length] = tokens.size();
    for (int end : all) {
      byte[] told = told(end);
      String more = characters.feed(Arrays.copyOfRange(told, sent, told.length));
      deltas.add(new TurnEvent.Delta(choice, more, tokens.subList(from, end)));
      sent = told.length;
      from = end;
    }
    String rest = characters.flush();
    if (!rest.isEmpty()) {
      deltas.add(new TurnEvent.Delta(choice, rest, List.of()));
    }
    return deltas;
  }

  /** The bytes that a replica has told after so many tokens: none of a stop string's. */
  private byte[] told(int count) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    tokens.subList(0, count).forEach(token -> bytes.writeBytes(token.bytes()));
    String said = bytes.toString(StandardCharsets.ISO_8859_1);
    int length = said.length();
    for (String one : stop) {
      String string = new String(one.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
      int found = said.indexOf(string);
      length = Math.min(length, found < 0 ? length : found);
      for (int held = string.length() - 1; held > 0 && count < tokens.size(); held--) {
        if (said.endsWith(string.substring(0, held))) {
          length = Math.min(length, said.length() - held);
        }
      }
    }
    return Arrays.copyOf(bytes.toByteArray(), length);
  }
}
