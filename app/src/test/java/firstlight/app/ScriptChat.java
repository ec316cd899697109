package firstlight.app;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A chat of a script: what was asked, and what has come back so far. Thread-safe. */
final class ScriptChat {
  /**
   * @param tokens the most the answer may have
   * @param stream whether it comes as events
   * @param stop a stop string; empty: none
   * @param choices answers wanted
   * @param seed -1: greedy
   * @param tenant whose key is sent
   * @param leavesAfter tokens after which the client is gone
   * @param slow whether the client reads nothing until it is told to
   * @param logprobs whether each token comes with many alternatives
   */
  record Request(
      String name,
      String text,
      int tokens,
      boolean stream,
      String stop,
      int choices,
      int seed,
      String tenant,
      int leavesAfter,
      boolean slow,
      boolean logprobs) {
    /** From the words after the name and the text. */
    static Request of(String name, String text, Words words) {
      int times = words.option("times", 1);
      return new Request(
          name,
          (text + " ").repeat(times).strip(),
          words.option("tokens", 16),
          !words.flag("plain"),
          words.option("stop", ""),
          words.option("choices", 1),
          words.option("seed", -1),
          words.option("as", "a"),
          words.option("leaves-after", Integer.MAX_VALUE),
          words.flag("slow"),
          words.flag("logprobs"));
    }

    /** One of a crowd, with a name and a text of its own. */
    Request numbered(int number) {
      return new Request(
          name + number,
          text + " " + number,
          tokens,
          stream,
          stop,
          choices,
          seed,
          tenant,
          leavesAfter,
          slow,
          logprobs);
    }

    ObjectNode body() {
      ObjectNode body =
          Client.JSON
              .createObjectNode()
              .put("model", ScriptReplica.MODEL)
              .put("max_tokens", tokens)
              .put("temperature", seed < 0 ? 0 : 1)
              .put("seed", Math.max(0, seed))
              .put("n", choices)
              .put("return_token_ids", true);
      body.putArray("messages").addObject().put("role", "user").put("content", text);
      if (stream) {
        body.put("stream", true).putObject("stream_options").put("include_usage", true);
      }
      if (!stop.isEmpty()) {
        body.put("stop", stop);
      }
      if (logprobs) {
        body.put("logprobs", true).put("top_logprobs", 20);
      }
      return body;
    }
  }

  /** One of its answers. */
  static final class Choice {
    private final StringBuilder text = new StringBuilder();
    private final List<Integer> tokens = new ArrayList<>();
    private String finish = "";

    String text() {
      return text.toString();
    }

    List<Integer> tokens() {
      return tokens;
    }

    /** Empty while it goes on. */
    String finish() {
      return finish;
    }
  }

  private final Request request;
  private final List<Choice> choices;
  private final List<Integer> prompt = new ArrayList<>();
  private int status;
  private boolean retryAfter;
  private @Nullable JsonNode usage;
  private @Nullable JsonNode error;
  private boolean done;
  private boolean late;
  private int place;

  ScriptChat(Request request) {
    this.request = request;
    choices = IntStream.range(0, request.choices()).mapToObj(_ -> new Choice()).toList();
  }

  /** Whether the exact time and the one in whole seconds are there and fit. */
  static boolean isRetryTime(String seconds, String millis) {
    return seconds.matches("[1-9]\\d{0,8}")
        && millis.matches("[1-9]\\d{0,12}")
        && Math.ceilDiv(Long.parseLong(millis), 1_000) == Integer.parseInt(seconds);
  }

  Request request() {
    return request;
  }

  synchronized void head(int status, boolean retryAfter) {
    this.status = status;
    this.retryAfter = retryAfter;
  }

  /** Takes a chunk of a stream, a whole answer, or an error. */
  synchronized void body(JsonNode body) {
    late |= ended();
    error = body.get("error");
    if (body.path("error").has("headers")) {
      JsonNode headers = body.get("error").get("headers");
      retryAfter =
          isRetryTime(
              headers.path("Retry-After").asText(), headers.path("retry-after-ms").asText());
    }
    usage = body.hasNonNull("usage") ? body.get("usage") : usage;
    body.path("prompt_token_ids").forEach(id -> prompt.add(id.intValue()));
    for (JsonNode one : body.path("choices")) {
      Choice choice = choices.get(one.get("index").intValue());
      JsonNode said = one.path(request.stream() ? "delta" : "message");
      choice.text.append(said.path("content").asText());
      one.path("token_ids").forEach(id -> choice.tokens.add(id.intValue()));
      choice.finish = one.path("finish_reason").asText(choice.finish);
    }
  }

  /**
   * The stream says that all has come.
   *
   * @param place how many others had ended before
   */
  synchronized void done(int place) {
    late |= ended();
    done = true;
    this.place = place;
  }

  /** The body is at its end, which only a stream marks before. */
  synchronized void closed(int place) {
    if (!done && (!request.stream() || error != null)) {
      done = true;
      this.place = place;
    }
  }

  /** Whether anything came after the end. */
  synchronized boolean late() {
    return late;
  }

  /** Whether the answer is whole. */
  synchronized boolean finished() {
    return done && error == null && choices.stream().noneMatch(choice -> choice.finish.isEmpty());
  }

  synchronized boolean ended() {
    return done || error != null;
  }

  /** Whether it was answered with an error status. */
  synchronized boolean refused() {
    return status >= 400;
  }

  synchronized int status() {
    return status;
  }

  /** Whether it was told when to come again, by headers or in the error of a stream. */
  synchronized boolean hasRetryAfter() {
    return retryAfter;
  }

  /** The error's code; empty without one. */
  synchronized String errorCode() {
    return error == null ? "" : error.path("code").asText();
  }

  synchronized int usage(String name) {
    JsonNode found = usage == null ? null : usage.findValue(name);
    return found == null ? -1 : found.intValue();
  }

  synchronized List<Integer> prompt() {
    return List.copyOf(prompt);
  }

  synchronized int place() {
    return place;
  }

  /** Tokens of all its answers. */
  synchronized int tokens() {
    return choices.stream().mapToInt(choice -> choice.tokens.size()).sum();
  }

  /** To be read when nothing more comes. */
  List<Choice> choices() {
    return choices;
  }

  synchronized List<String> texts() {
    return choices.stream().map(Choice::text).toList();
  }

  @Override
  public synchronized String toString() {
    return "%s: status %d, %s, %d tokens, %s, error %s, usage %s, text %s"
        .formatted(
            request.name(),
            status,
            done ? "ended" : "open",
            tokens(),
            choices.stream().map(Choice::finish).toList(),
            error,
            usage,
            texts().stream().map(text -> text.substring(0, Math.min(80, text.length()))).toList());
  }
}
