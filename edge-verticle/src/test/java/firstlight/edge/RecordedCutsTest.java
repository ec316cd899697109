package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FinishReason;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Sampling;
import firstlight.protocol.Settings;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import firstlight.protocol.Usage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Recorded generations, cut at every place: what is streamed is what the plain answer says, in each
 * dialect, and the events of a Response are the same bytes however its tokens come, and when they
 * are made again.
 */
class RecordedCutsTest {
  private static final int RECORDED_MIN = 200;
  private static final EdgeConfig CONFIG = EdgeConfig.read(Settings.parse("open: true", _ -> null));
  private static final Json JSON = new Json(CONFIG.limits());
  private static final Usage USAGE = new Usage(9, 2, 7);
  private static final int[] PROMPT = {1, 2};

  private static List<RecordedGeneration> recorded;

  @BeforeAll
  static void load() {
    recorded = RecordedGeneration.all();
  }

  /** Each way to cut in two; each token by itself; all at once; and some at random. */
  private static List<int[]> cuts(RecordedGeneration generation) {
    int size = generation.tokens().size();
    List<int[]> cuts = new ArrayList<>();
    cuts.add(new int[0]);
    cuts.add(IntStream.range(1, size).toArray());
    for (int cut = 1; cut < size; cut++) {
      cuts.add(new int[] {cut});
    }
    Random random = new Random(size);
    for (int i = 0; i < 3; i++) {
      TreeSet<Integer> some = new TreeSet<>();
      random.ints(size / 3, 0, size).forEach(some::add);
      cuts.add(some.stream().mapToInt(Integer::intValue).toArray());
    }
    return cuts;
  }

  private static CompletionRequest request(int choices, Sampling sampling, boolean ids) {
    TurnRequest turn =
        new TurnRequest(
            new ResponseId("chatcmpl-1"),
            new TenantId("a"),
            TurnOrigin.alone(
                new Caller(new TenantId("a"), "req_1", 0),
                "chat.completions",
                true,
                TextPolicy.FULL),
            "m",
            List.of(new TurnPrompt.Text("hi")),
            choices,
            sampling,
            OptionalInt.empty(),
            List.of(),
            AnswerForm.FREE,
            false,
            Urgency.NORMAL);
    return new CompletionRequest(turn, false, ids, false, Optional.empty(), List.of());
  }

  private static TokenText names() {
    return TokenText.of(new EdgeModels(List.of()), "m");
  }

  private static ChatWriter chat(RecordedGeneration generation, boolean tokens, int choices) {
    CompletionRequest request = request(choices, Sampling.greedy(tokens ? 2 : -1), tokens);
    ChatWriter writer = new ChatWriter(request, 1, names());
    writer.started(new TurnEvent.Started(List.of(PROMPT), generation.parsers()));
    return writer;
  }

  private static CompletionsWriter completions() {
    return new CompletionsWriter(request(1, Sampling.greedy(2), true), 1, names());
  }

  private static WholeAnswer whole(RecordedGeneration generation) {
    WholeAnswer whole = new WholeAnswer(true);
    generation.deltas(0).forEach(whole::add);
    whole.add(finished(generation, 0));
    assertThat(whole.text()).as("as it was recorded").isEqualTo(generation.text());
    return whole;
  }

  private static TurnEvent.ChoiceFinished finished(RecordedGeneration generation, int choice) {
    return new TurnEvent.ChoiceFinished(choice, generation.reason(), USAGE, null);
  }

  private static ObjectNode plain(CompletionWriter writer, RecordedGeneration... generations) {
    List<WholeAnswer> answers = List.of(generations).stream().map(RecordedCutsTest::whole).toList();
    return writer.whole(answers, List.of(PROMPT), USAGE);
  }

  private static List<ObjectNode> chunks(
      CompletionWriter writer, RecordedGeneration generation, int[] cut) {
    List<ObjectNode> chunks = new ArrayList<>();
    for (TurnEvent.Delta delta : generation.deltas(0, cut)) {
      writer.count(delta);
      chunks.addAll(writer.delta(delta));
    }
    chunks.addAll(writer.ending(finished(generation, 0)));
    return chunks;
  }

  /** As clients do: strings and lists of one name are joined; the last word of an end holds. */
  private static ObjectNode joined(List<ObjectNode> chunks, int index) {
    ObjectNode all = Json.object();
    for (ObjectNode chunk : chunks) {
      JsonNode choice = chunk.get("choices").get(0);
      if (choice.get("index").asInt() == index) {
        join(all, (ObjectNode) choice);
      }
    }
    return all;
  }

  private static void join(ObjectNode all, ObjectNode more) {
    more.properties()
        .forEach(
            field -> {
              JsonNode value = field.getValue();
              String name = field.getKey();
              if (name.equals("tool_calls")) {
                value.forEach(piece -> joinCall(all.withArray(name), (ObjectNode) piece));
              } else if (value.isObject()) {
                join(all.withObject("/" + name), (ObjectNode) value);
              } else if (value.isArray()) {
                all.withArray(name).addAll((ArrayNode) value);
              } else if (value.isTextual() && !name.equals("finish_reason")) {
                all.put(name, all.path(name).asText("") + value.asText());
              } else if (!value.isNull()) {
                all.set(name, value);
              }
            });
  }

  private static void joinCall(ArrayNode calls, ObjectNode piece) {
    int index = piece.remove("index").asInt();
    if (index == calls.size()) {
      calls.addObject();
    }
    join((ObjectNode) calls.get(index), piece);
  }

  private static void assertSame(ObjectNode streamed, JsonNode choice, String description) {
    JsonNode message = choice.get("message");
    assertThat(streamed.at("/delta/content").asText(""))
        .as(description)
        .isEqualTo(message.get("content").asText(""));
    for (String name : List.of("tool_calls", "reasoning_content")) {
      assertThat(streamed.at("/delta/" + name)).as(description).isEqualTo(message.at("/" + name));
    }
    assertThat(streamed.get("finish_reason"))
        .as(description)
        .isEqualTo(choice.get("finish_reason"));
    assertThat(streamed.at("/logprobs/content"))
        .as(description)
        .isEqualTo(choice.at("/logprobs/content"));
    assertThat(streamed.path("token_ids")).as(description).isEqualTo(choice.path("token_ids"));
  }

  @Test
  void enough_was_recorded_and_each_family_called() {
    assertThat(recorded).hasSizeGreaterThanOrEqualTo(RECORDED_MIN);
    for (String form :
        List.of("hermes", "thinking", "llama", "mistral", "named", "python", "code")) {
      assertThat(recorded)
          .as(form)
          .anyMatch(
              one ->
                  one.form().equals(form)
                      && plain(chat(one, true, 1), one)
                          .at("/choices/0/finish_reason")
                          .asText()
                          .equals("tool_calls"));
    }
    assertThat(recorded).extracting(RecordedGeneration::reason).contains(FinishReason.STOP);
    assertThat(recorded).anyMatch(one -> one.text().contains("🦙"));
  }

  @Test
  void a_chat_is_the_same_however_it_is_cut() {
    for (RecordedGeneration generation : recorded) {
      for (boolean tokens : new boolean[] {true, false}) {
        JsonNode choice = plain(chat(generation, tokens, 1), generation).at("/choices/0");
        for (int[] cut : cuts(generation)) {
          ObjectNode streamed = joined(chunks(chat(generation, tokens, 1), generation, cut), 0);
          assertSame(streamed, choice, generation + " cut at " + Arrays.toString(cut));
        }
      }
    }
  }

  @Test
  void choices_of_one_chat_do_not_touch_each_other() {
    for (int i = 1; i < recorded.size(); i++) {
      RecordedGeneration first = recorded.get(i - 1);
      RecordedGeneration second = recorded.get(i);
      if (first.form().equals(second.form())) {
        JsonNode choices = plain(chat(first, true, 2), first, second).get("choices");
        ChatWriter writer = chat(first, true, 2);
        List<TurnEvent.Delta> others = new ArrayList<>(second.deltas(1, cuts(second).get(1)));
        List<ObjectNode> chunks = new ArrayList<>();
        for (TurnEvent.Delta delta : first.deltas(0, cuts(first).get(1))) {
          chunks.addAll(writer.delta(delta));
          if (!others.isEmpty()) {
            chunks.addAll(writer.delta(others.removeFirst()));
          }
        }
        others.forEach(delta -> chunks.addAll(writer.delta(delta)));
        chunks.addAll(writer.ending(finished(second, 1)));
        chunks.addAll(writer.ending(finished(first, 0)));
        for (int index = 0; index < 2; index++) {
          ObjectNode streamed = joined(chunks, index);
          streamed.withObject("/delta").withArray("tool_calls").forEach(RecordedCutsTest::forget);
          choices.get(index).at("/message/tool_calls").forEach(RecordedCutsTest::forget);
          if (streamed.at("/delta/tool_calls").isEmpty()) {
            streamed.withObject("/delta").remove("tool_calls");
          }
          assertSame(streamed, choices.get(index), first + " beside " + second);
        }
      }
    }
  }

  /** Ids are drawn in the order in which calls begin. */
  private static void forget(JsonNode call) {
    ((ObjectNode) call).remove("id");
  }

  @Test
  void a_completion_is_the_same_however_it_is_cut() {
    for (RecordedGeneration generation : recorded) {
      JsonNode choice = plain(completions(), generation).at("/choices/0");
      for (int[] cut : cuts(generation)) {
        ObjectNode streamed = joined(chunks(completions(), generation, cut), 0);
        for (String name : List.of("text", "finish_reason", "token_ids")) {
          assertThat(streamed.get(name)).isEqualTo(choice.get(name));
        }
        for (String name : List.of("tokens", "token_logprobs", "top_logprobs", "text_offset")) {
          assertThat(streamed.at("/logprobs/" + name)).isEqualTo(choice.at("/logprobs/" + name));
        }
      }
    }
  }

  @Test
  void a_message_is_the_same_however_it_is_cut() {
    for (RecordedGeneration generation : recorded) {
      MessagesBlocks whole = blocks(generation);
      whole.next(generation.text());
      whole.end();
      for (int[] cut : cuts(generation)) {
        MessagesBlocks streamed = blocks(generation);
        List<MessagesBlocks.Event> events = new ArrayList<>();
        generation.deltas(0, cut).forEach(delta -> events.addAll(streamed.next(delta.text())));
        events.addAll(streamed.end());
        assertThat(streamed.content()).isEqualTo(whole.content());
        assertThat(MessagesBlocksTest.joined(events)).isEqualTo(whole.content());
      }
    }
  }

  private static MessagesBlocks blocks(RecordedGeneration generation) {
    return new MessagesBlocks(generation.parsers().get(), call -> "toolu_" + call, JSON);
  }

  private static ResponseRequest response() {
    ObjectNode body = Json.object().put("model", "m").put("input", "hi").put("top_logprobs", 2);
    body.putArray("include").add("message.output_text.logprobs");
    return ResponsesReaderTest.reader().read(body, ResponsesReader.Transport.HTTP);
  }

  @Test
  void events_of_a_response_are_the_same_bytes_however_it_is_cut_and_when_made_again() {
    ResponseRequest request = response();
    for (RecordedGeneration generation : recorded) {
      if (generation.stop().isEmpty()) {
        ResponseStream stream = stream(request);
        String events = events(stream, generation, new int[0]);
        for (int[] cut : cuts(generation)) {
          assertThat(events(stream(request), generation, cut)).isEqualTo(events);
        }
        assertThat(again(request, stream)).as("%s", generation).isEqualTo(events);
      }
    }
  }

  private static ResponseStream stream(ResponseRequest request) {
    return new ResponseStream(new ResponseResource(request.id(), 1, request.echo()), true);
  }

  private static String events(ResponseStream stream, RecordedGeneration generation, int[] cut) {
    List<ObjectNode> events = new ArrayList<>(stream.started(generation.parsers().get()));
    for (TurnEvent.Delta delta : generation.deltas(0, cut)) {
      events.addAll(stream.tokens(delta.tokens()));
      if (cut.length == 1) {
        ResponseSoFar told = ResponseSoFar.of(JSON.value(Json.text(stream.soFar().json())));
        assertThat(made(ResponseReplay.of(told))).as("so far").isEqualTo(bytes(events));
      }
    }
    events.addAll(stream.ended(generation.reason(), USAGE, 2));
    events.add(stream.last());
    for (int i = 0; i < events.size(); i++) {
      assertThat(events.get(i).get("sequence_number").intValue()).isEqualTo(i);
    }
    return bytes(events);
  }

  private static String again(ResponseRequest request, ResponseStream ended) {
    ResponseRecord kept =
        new ResponseRecord(JSON, new TenantId("a"), request, ResponseHistory.NONE, request.input());
    return made(ResponseReplay.of(JSON, kept.turn(1, ended.cuts(), ended.outcome(), USAGE)));
  }

  private static String made(ResponseReplay replay) {
    List<ObjectNode> events = new ArrayList<>();
    for (var next = replay.next(); next.isPresent(); next = replay.next()) {
      events.addAll(next.get());
    }
    return bytes(events);
  }

  private static String bytes(List<ObjectNode> events) {
    StringBuilder bytes = new StringBuilder();
    events.forEach(event -> bytes.append(Json.text(event)).append('\n'));
    return bytes.toString();
  }
}
