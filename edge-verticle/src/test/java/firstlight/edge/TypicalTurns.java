package firstlight.edge;

import firstlight.model.AnswerParser;
import firstlight.model.ChatMessage;
import firstlight.model.Tokenizer;
import firstlight.protocol.FinishReason;
import firstlight.protocol.NodeId;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Sampling;
import firstlight.protocol.Settings;
import firstlight.protocol.SimulatedTime;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import firstlight.protocol.Time;
import firstlight.protocol.Usage;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Token;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Finished Responses as an edge hands them over: a chat of some messages and its answer. */
final class TypicalTurns {
  private static final String MODEL = "typical";
  private static final int PROMPT_WORDS = 180;
  private static final int TOKEN_NANOS = 9_000_000;

  private final Random random = new Random(1);
  private final SimulatedTime clock = new SimulatedTime();
  private final Words words = new Words();
  private final EdgeModel model =
      new EdgeModel(MODEL, words, Optional.empty(), 8_192, "0".repeat(64), 0);
  private final EdgeMetrics metrics =
      new EdgeMetrics(new SimpleMeterRegistry(), new EdgeModels(List.of(model)));
  private final TextKeeper keeper =
      new TextKeeper(TextsConfig.read(Settings.empty().section("texts")));

  /** Drafts that differ in everything. */
  List<EventDraft> drafts(int count, int tokens, Time now) {
    List<EventDraft> drafts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      drafts.add(draft(i, tokens, now.epochMillis()));
    }
    return drafts;
  }

  private EventDraft draft(int number, int tokens, long epochMillis) {
    TurnRequest request = request(number);
    TurnAccount account = new TurnAccount(request, metrics, clock);
    account.prepared(AnswerParser::plain);
    for (int i = 0; i < tokens; i++) {
      int id = random.nextInt(words.vocabularySize());
      clock.advance(Duration.ofNanos(TOKEN_NANOS / 2 + random.nextInt(TOKEN_NANOS)));
      Emission one = Emission.newBuilder().addTokens(Token.newBuilder().setId(id)).build();
      account.emitted(0, one, words.text(id));
    }
    Usage usage = new Usage(2 * PROMPT_WORDS, PROMPT_WORDS, tokens);
    account.finished(0, FinishReason.END, null);
    account.cost(0, usage);
    account.concluded(TurnAccount.Status.COMPLETED, null);
    return new TurnFacts(request, account, usage, new NodeId("node"), model, epochMillis, keeper);
  }

  private TurnRequest request(int number) {
    TurnPrompt prompt =
        new TurnPrompt.Conversation(
            List.of(
                new ChatMessage("system", prose(PROMPT_WORDS / 3)),
                new ChatMessage("user", prose(PROMPT_WORDS * 2 / 3))),
            List.of(),
            Map.of());
    TenantId tenant = new TenantId("tenant");
    return new TurnRequest(
        new ResponseId("resp_%024d".formatted(number)),
        tenant,
        TurnOrigin.alone(
            new Caller(tenant, "req_%024d".formatted(number), 0),
            ChatReader.DIALECT,
            true,
            TextPolicy.FULL),
        MODEL,
        List.of(prompt),
        1,
        Sampling.GREEDY,
        OptionalInt.empty(),
        List.of(),
        AnswerForm.FREE,
        false,
        Urgency.NORMAL);
  }

  private String prose(int count) {
    return IntStream.range(0, count)
        .mapToObj(_ -> words.text(random.nextInt(words.vocabularySize())))
        .collect(Collectors.joining());
  }

  /** A vocabulary as large as that of a model, of made-up words. */
  private static final class Words implements Tokenizer {
    private static final int SIZE = 49_152;
    private static final String SYLLABLES = "badegilomunaperisotuvexy";

    private final byte[][] bytes = new byte[SIZE][];
    private final String[] texts = new String[SIZE];

    Words() {
      for (int id = 0; id < SIZE; id++) {
        texts[id] = word(id);
        bytes[id] = texts[id].getBytes(StandardCharsets.UTF_8);
      }
    }

    private static String word(int id) {
      StringBuilder text = new StringBuilder(" ");
      for (int rest = id; rest > 0; rest /= 12) {
        text.append(SYLLABLES, rest % 12 * 2, rest % 12 * 2 + 2);
      }
      return text.substring(0, Math.min(text.length(), 6));
    }

    @Override
    public String text(int id) {
      return texts[id];
    }

    @Override
    public byte[] bytes(int id) {
      return bytes[id].clone();
    }

    @Override
    public int vocabularySize() {
      return SIZE;
    }

    @Override
    public int[] encode(String text) {
      throw new UnsupportedOperationException("nothing is asked of a model here");
    }

    @Override
    public int[] encodeWithControl(String text) {
      return encode(text);
    }

    @Override
    public int[] encodePrompt(String text) {
      return encode(text);
    }

    @Override
    public boolean isControl(int id) {
      return false;
    }

    @Override
    public OptionalInt bos() {
      return OptionalInt.empty();
    }

    @Override
    public OptionalInt eos() {
      return OptionalInt.empty();
    }

    @Override
    public int[] endTokens() {
      return new int[0];
    }
  }
}
