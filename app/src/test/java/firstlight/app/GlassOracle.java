package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.model.ChatMessage;
import firstlight.model.Model;
import firstlight.model.Utf8Stream;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.Sampling;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Knows what a glass device must say, whoever else is served: its answers are a pure function of
 * the prompt. Checks token by token what a chat got, be it whole or cut off.
 */
final class GlassOracle {
  private final Model model;

  GlassOracle(Model model) {
    this.model = model;
  }

  void check(ScriptChat chat) {
    int[] prompt = prompt(chat.request().text());
    if (!chat.prompt().isEmpty()) {
      assertThat(chat.prompt())
          .as("the prompt of " + chat)
          .isEqualTo(Arrays.stream(prompt).boxed().toList());
    }
    // The other choices have seeds that the service derives.
    ScriptChat.Choice first = chat.choices().getFirst();
    List<Integer> expected = answer(prompt, sampling(chat), first.tokens().size());
    assertThat(first.tokens()).as("the tokens of " + chat).isEqualTo(expected);
    String text = cut(text(expected, !first.finish().isEmpty()), chat.request().stop());
    if (first.finish().isEmpty()) {
      assertThat(text).as("what came of " + chat).startsWith(first.text());
    } else {
      assertThat(first.text()).as("the text of " + chat).isEqualTo(text);
      assertThat(first.finish()).as("the end of " + chat).isEqualTo(end(chat, expected));
    }
  }

  int[] prompt(String text) {
    return model
        .template()
        .orElseThrow()
        .prompt(List.of(new ChatMessage("user", text)), List.of(), Map.of(), true, Instant.EPOCH);
  }

  private static Sampling sampling(ScriptChat chat) {
    int seed = chat.request().seed();
    int topLogprobs = chat.request().logprobs() ? 20 : -1;
    return seed < 0
        ? Sampling.greedy(topLogprobs)
        : new Sampling(1, 0, 1, 0, 1, 0, 0, new int[0], new float[0], seed, topLogprobs);
  }

  private List<Integer> answer(int[] prompt, Sampling sampling, int tokens) {
    List<Integer> answer = new ArrayList<>();
    int[] history = prompt;
    for (int i = 0; i < tokens; i++) {
      int next = GlassDevice.next(history, sampling, model.tokenizer().vocabularySize()).id();
      answer.add(next);
      history = Arrays.copyOf(history, history.length + 1);
      history[history.length - 1] = next;
    }
    return answer;
  }

  private String text(List<Integer> tokens, boolean whole) {
    Utf8Stream characters = new Utf8Stream();
    StringBuilder text = new StringBuilder();
    tokens.forEach(token -> text.append(characters.feed(model.tokenizer().bytes(token))));
    return whole ? text + characters.flush() : text.toString();
  }

  private static String cut(String text, String stop) {
    int at = stop.isEmpty() ? -1 : text.indexOf(stop);
    return at < 0 ? text : text.substring(0, at);
  }

  private String end(ScriptChat chat, List<Integer> tokens) {
    String stop = chat.request().stop();
    boolean stopped = !stop.isEmpty() && text(tokens, true).contains(stop);
    int last = tokens.getLast();
    boolean ended = Arrays.stream(model.tokenizer().endTokens()).anyMatch(id -> id == last);
    return stopped || ended ? "stop" : "length";
  }
}
