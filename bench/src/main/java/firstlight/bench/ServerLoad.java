package firstlight.bench;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** The loads that servers are compared under; each returns its figures. */
final class ServerLoad {
  /** Requests at least, so that there is something to take percentiles of. */
  private static final int REQUESTS_MIN = 8;

  private static final int SYSTEM_TOKENS = 20;
  private static final int USER_TOKENS = 180;
  private static final int ANSWER_TOKENS = 64;
  private static final int SHARED_TOKENS = 800;
  private static final int SHARERS = 8;
  private static final int SHORT_ANSWER_TOKENS = 16;
  private static final int BESIDE = 16;
  private static final int BESIDE_ANSWER_TOKENS = 256;
  private static final int LONG_TOKENS = 4_000;

  /** Pieces each stream has had before the long prompt comes. */
  private static final int BEFORE_LONG = 16;

  private static final int LIMIT_SECONDS = 900;

  private final LoadClient client;
  private final Prompts prompts;

  ServerLoad(LoadClient client, Prompts prompts) {
    this.client = client;
    this.prompts = prompts;
  }

  /** Streams at once, each with prompts of its own of about 200 tokens. */
  Map<String, Double> streams(int count) {
    int each = Math.max(1, REQUESTS_MIN / count);
    List<Future<List<Answer>>> running = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      List<Ask> asks = new ArrayList<>();
      for (int j = 0; j < each; j++) {
        asks.add(distinct(SYSTEM_TOKENS, USER_TOKENS, ANSWER_TOKENS));
      }
      running.add(oneAfterTheOther(asks));
    }
    List<Answer> answers =
        LoadClient.await(running, LIMIT_SECONDS).stream().flatMap(List::stream).toList();
    return new ServerFigures(answers).named(count == 1 ? "1 stream" : count + " streams");
  }

  private Future<List<Answer>> oneAfterTheOther(List<Ask> asks) {
    Future<List<Answer>> all = Future.succeededFuture(new ArrayList<>());
    for (Ask ask : asks) {
      all =
          all.compose(
              answers -> client.sendPatiently(ask).onSuccess(answers::add).map(_ -> answers));
    }
    return all;
  }

  private Ask distinct(int system, int user, int tokens) {
    return Ask.of(prompts.text(system), prompts.text(user), tokens);
  }

  /** A long system prompt: new, then seen before, then by several at once. */
  Map<String, Double> shared() {
    String system = prompts.text(SHARED_TOKENS);
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("TTFT, s, 800 shared tokens, new", sharers(system, 1).percentile(100));
    figures.put("TTFT, s, 800 shared tokens, again", sharers(system, 1).percentile(100));
    Sample together = sharers(system, SHARERS);
    figures.put("TTFT p50, s, 800 shared tokens, 8 at once", together.median());
    figures.put("TTFT max, s, 800 shared tokens, 8 at once", together.percentile(100));
    return figures;
  }

  private Sample sharers(String system, int count) {
    List<Future<Answer>> running = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Ask ask = Ask.of(system, prompts.text(SYSTEM_TOKENS), SHORT_ANSWER_TOKENS);
      running.add(client.sendPatiently(ask));
    }
    return new ServerFigures(LoadClient.await(running, LIMIT_SECONDS)).firstTokens();
  }

  /** What one long prompt does to the streams beside it. */
  Map<String, Double> beside() {
    List<Answer> quiet = LoadClient.await(beside(_ -> {}), LIMIT_SECONDS);
    Promise<Answer> longOne = Promise.promise();
    AtomicInteger ready = new AtomicInteger();
    Ask ask = distinct(SYSTEM_TOKENS, LONG_TOKENS, SHORT_ANSWER_TOKENS);
    List<Future<Answer>> running =
        beside(
            pieces -> {
              if (pieces == BEFORE_LONG && ready.incrementAndGet() == BESIDE) {
                client.sendPatiently(ask).onComplete(longOne);
              }
            });
    List<Answer> disturbed = LoadClient.await(running, LIMIT_SECONDS);
    Answer arrived = LoadClient.await(List.of(longOne.future()), LIMIT_SECONDS).getFirst();
    return figures(new ServerFigures(quiet), new ServerFigures(disturbed), arrived);
  }

  private List<Future<Answer>> beside(java.util.function.IntConsumer arrived) {
    List<Future<Answer>> running = new ArrayList<>();
    for (int i = 0; i < BESIDE; i++) {
      Ask ask = distinct(SYSTEM_TOKENS, SYSTEM_TOKENS, BESIDE_ANSWER_TOKENS);
      running.add(client.send(ask, arrived));
    }
    return running;
  }

  private static Map<String, Double> figures(
      ServerFigures quiet, ServerFigures disturbed, Answer longOne) {
    double alone = quiet.gapsBetween(quiet.allBegun(), Long.MAX_VALUE).percentile(99);
    double together =
        disturbed
            .gapsBetween(longOne.sent(), new ServerFigures(List.of(longOne)).allBegun())
            .percentile(99);
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put("inter-token p99, s, 16 streams", alone);
    figures.put("inter-token p99, s, 16 streams beside 4,000 tokens", together);
    figures.put(GROWTH, together / alone);
    figures.put("TTFT, s, 4,000 tokens beside 16 streams", longOne.firstToken());
    return figures;
  }

  static final String GROWTH = "growth of the inter-token p99 by it";
}
