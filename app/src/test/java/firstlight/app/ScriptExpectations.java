package firstlight.app;

import firstlight.protocol.ReplicaReport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** The lines that begin with {@code expect}: each is waited for, at most for a while. */
final class ScriptExpectations {
  /** Longest wait where the script does not say. */
  static final Duration LIMIT = Duration.ofSeconds(20);

  private static final int PAUSE_LOOKS = 5;
  private static final List<String> IDLE =
      List.of(
          "vllm:num_requests_running",
          "vllm:num_requests_waiting",
          "vllm:kv_cache_usage_perc",
          "firstlight_edge_requests_running");

  private final ScriptMesh mesh;
  private final ScriptClient client;
  private int stepsSeen = -1;
  private int looks;

  ScriptExpectations(ScriptMesh mesh, ScriptClient client) {
    this.mesh = mesh;
    this.client = client;
  }

  /** What to wait for. */
  void expect(Words words) throws Exception {
    Duration limit = Words.span(words.option("within", LIMIT.toSeconds() + "s"));
    Callable<Boolean> condition = condition(words);
    words.end();
    Eventually.holds(limit, "what the script expects", condition);
  }

  /** Does not wait for what can not come any more: when all chats are over, nothing changes. */
  private Callable<Boolean> whileChatsGoOn(Callable<Boolean> condition) {
    return () -> {
      boolean over = client.allOver();
      boolean holds = condition.call();
      if (over && !holds) {
        throw new AssertionError("all chats are over, and it is not so");
      }
      return holds;
    };
  }

  /** Nothing runs, nothing waits, no Block is held: as the metrics say. */
  void expectIdle() throws Exception {
    Eventually.holds(LIMIT, "idle", this::idle);
  }

  private boolean idle() throws Exception {
    String metrics = client.metrics();
    return IDLE.stream().allMatch(name -> sum(metrics, name, "") == 0);
  }

  private Callable<Boolean> condition(Words words) {
    String subject = words.take();
    if (subject.equals("idle")) {
      return this::idle;
    }
    if (subject.equals("preemptions")) {
      return () -> sum(client.metrics(), "vllm:num_preemptions_total", "") > 0;
    }
    if (subject.equals("cancelled")) {
      int count = words.number();
      return () ->
          sum(client.metrics(), "firstlight:replica_generations_total", "cancelled") == count;
    }
    if (mesh.hasReplica(subject)) {
      return replica(subject, words);
    }
    return whileChatsGoOn(
        client.has(subject) ? chat(client.chat(subject), words) : crowd(subject, words));
  }

  private Callable<Boolean> replica(String name, Words words) {
    String what = words.take();
    return switch (what) {
      case "stalled" -> () -> mesh.device(name).stalled();
      case "lost" -> () -> mesh.lost(name);
      case "paused" -> () -> paused(name);
      case "works" -> () -> mesh.device(name).steps() > 0;
      case "waiting" -> counted(name, words, ReplicaReport::waiting);
      case "running" -> counted(name, words, ReplicaReport::running);
      default -> throw new IllegalArgumentException("a replica is never \"" + what + "\"");
    };
  }

  /** Something runs there, and yet no Step has come for several looks. */
  private boolean paused(String name) {
    int steps = mesh.device(name).steps();
    looks = steps == stepsSeen ? looks + 1 : 0;
    stepsSeen = steps;
    return looks >= PAUSE_LOOKS && mesh.report(name).filter(now -> now.running() > 0).isPresent();
  }

  private Callable<Boolean> counted(
      String name, Words words, java.util.function.ToIntFunction<ReplicaReport> value) {
    int count = words.number();
    return () -> mesh.report(name).filter(now -> value.applyAsInt(now) == count).isPresent();
  }

  private Callable<Boolean> chat(ScriptChat chat, Words words) {
    String what = words.take();
    return switch (what) {
      case "finish" -> finish(chat, words.take());
      case "error" -> error(chat, words.take());
      case "refused" -> refused(chat, words.number(), words.take());
      case "same" -> same(chat, client.chat(words.take()));
      case "before" -> before(chat, client.chat(words.take()));
      case "prompt" -> usage(chat, words);
      case "tokens" -> tokens(chat, words.number());
      case "reuse" -> reuse(chat, words.take());
      case "shows" -> shows(chat, words.take(), true);
      case "hides" -> shows(chat, words.take(), false);
      case "variety" -> () -> chat.finished() && different(chat) > 1;
      case "uniform" -> () -> chat.finished() && different(chat) == 1;
      default -> throw new IllegalArgumentException("a chat never does \"" + what + "\"");
    };
  }

  private static long different(ScriptChat chat) {
    return chat.texts().stream().distinct().count();
  }

  private static Callable<Boolean> finish(ScriptChat chat, String reason) {
    return () ->
        chat.finished() && chat.choices().stream().allMatch(one -> one.finish().equals(reason));
  }

  private static Callable<Boolean> error(ScriptChat chat, String code) {
    return () -> chat.status() == 200 && chat.errorCode().equals(code) && chat.hasRetryAfter();
  }

  private static Callable<Boolean> refused(ScriptChat chat, int status, String code) {
    return () -> refusal(chat, status, code);
  }

  private static Callable<Boolean> same(ScriptChat chat, ScriptChat other) {
    return () -> chat.finished() && other.finished() && chat.texts().equals(other.texts());
  }

  private static Callable<Boolean> before(ScriptChat chat, ScriptChat other) {
    return () -> chat.finished() && other.finished() && chat.place() < other.place();
  }

  private static Callable<Boolean> usage(ScriptChat chat, Words words) {
    int prompt = words.number();
    words.want("completion");
    int completion = words.number();
    return () ->
        chat.finished()
            && chat.usage("prompt_tokens") == prompt
            && chat.usage("completion_tokens") == completion
            && chat.usage("total_tokens") == prompt + completion;
  }

  private static Callable<Boolean> tokens(ScriptChat chat, int count) {
    return () -> chat.tokens() >= count;
  }

  /** Without a prefix cache nobody finds anything. */
  private Callable<Boolean> reuse(ScriptChat chat, String much) {
    boolean some = much.equals("some") && mesh.mode().prefixCache();
    return () -> chat.finished() && (some == chat.usage("cached_tokens") > 0);
  }

  private static Callable<Boolean> shows(ScriptChat chat, String text, boolean wanted) {
    return () ->
        chat.finished() && chat.texts().stream().allMatch(one -> one.contains(text) == wanted);
  }

  private Callable<Boolean> crowd(String name, Words words) {
    List<ScriptChat> all =
        IntStream.iterate(1, i -> client.has(name + i), i -> i + 1)
            .mapToObj(i -> client.chat(name + i))
            .toList();
    if (all.isEmpty()) {
      throw new IllegalArgumentException("there is no replica, chat or crowd " + name);
    }
    String what = words.take();
    int count = words.number();
    Predicate<ScriptChat> wanted =
        switch (what) {
          case "finished" -> ScriptChat::finished;
          case "refused" -> {
            int status = words.number();
            String code = words.take();
            yield chat -> refusal(chat, status, code);
          }
          default -> throw new IllegalArgumentException("a crowd is never \"" + what + "\"");
        };
    return () -> all.stream().filter(wanted).count() == count;
  }

  /** Whoever may come again is told when. */
  private static boolean refusal(ScriptChat chat, int status, String code) {
    boolean again = status == 429 || status == 503;
    return chat.status() == status
        && chat.errorCode().equals(code)
        && chat.hasRetryAfter() == again;
  }

  /** Adds up a metric over its labels; those that hold a word, if one is given. */
  private static double sum(String metrics, String name, String label) {
    Pattern line = Pattern.compile("^" + Pattern.quote(name) + "(\\{.*})? (\\S+)$");
    double sum = 0;
    for (String one : metrics.lines().toList()) {
      Matcher matcher = line.matcher(one);
      if (matcher.matches() && (label.isEmpty() || one.contains("\"" + label + "\""))) {
        sum += Double.parseDouble(matcher.group(2));
      }
    }
    return sum;
  }
}
