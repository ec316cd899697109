package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.model.ChatTemplate;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshCodec;
import firstlight.protocol.NodeId;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.ResponseFinished;
import firstlight.protocol.wire.Submit;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Stream;

/** A real edge on a free port, a fake replica behind it, and a client in front. */
final class EdgeFixture {
  static final String MODEL = "bytes";
  static final String KEY = "test-key-a";

  private static final String TEMPLATE =
      "{% if tools %}{% for t in tools %}<{{ t.function.name }}>{% endfor %}{% endif %}"
          + "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
          + "{% if messages[0].content == 'refuse me' %}{{ raise_exception('Not this one!') }}"
          + "{% endif %}{# of tool_calls it says nothing #}{# <tool_call> #}"
          + "{% if add_generation_prompt %}[assistant]{% endif %}";

  final Vertx vertx = Vertx.vertx();
  final FakeReplica replica = new FakeReplica(vertx, "r1", MODEL);
  final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
  final PrometheusMeterRegistry meters = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final EdgeVerticle edge;
  private final String deployment;

  /** A whole answer. */
  record Answer(int status, HttpResponse<String> http) {
    JsonNode json() throws IOException {
      return new ObjectMapper().readTree(http.body());
    }

    String header(String name) {
      return http.headers().firstValue(name).orElse("");
    }

    /** The data of all its events. */
    List<String> data() {
      return Stream.of(http.body().split("\n\n"))
          .filter(piece -> piece.startsWith("data: "))
          .map(piece -> piece.substring("data: ".length()))
          .toList();
    }
  }

  /**
   * @param yaml more settings of the section edge
   */
  EdgeFixture(String yaml) throws Exception {
    this(yaml, "0ms");
  }

  /**
   * @param warmUp how long it may send itself requests
   */
  EdgeFixture(String yaml, String warmUp) throws Exception {
    MeshCodec.register(vertx.eventBus());
    String tenants =
        "port: 0\nwarmUp: "
            + warmUp
            + "\ntenants:\n  a: {key: test-key-a}\n  b: {key: test-key-b}\n";
    Settings settings = Settings.parse(tenants + yaml, _ -> null);
    EdgeConfig config = EdgeConfig.read(settings);
    settings.problems().throwIfAny();
    ByteTokenizer tokenizer = new ByteTokenizer();
    EdgeModels models =
        new EdgeModels(
            List.of(
                new EdgeModel(
                    MODEL,
                    tokenizer,
                    Optional.of(ChatTemplate.compile(TEMPLATE, tokenizer)),
                    1_000,
                    "d1",
                    1_700_000_000),
                new EdgeModel("base", tokenizer, Optional.empty(), 1_000, "d2", 1_700_000_000)));
    edge =
        new EdgeVerticle(
            config,
            new NodeId("n1"),
            models,
            Time.system(),
            new IdSource(new Random(1)),
            meters,
            _ -> new Recorded());
    deployment = Waiting.on(vertx.deployVerticle(edge));
    replica.start();
    FakeReplica base = new FakeReplica(vertx, "r2", "base");
    base.answering(_ -> new int[] {'o', 'k', ByteTokenizer.END}).start();
    if (!config.tls().isOn()) {
      Waiting.until(() -> get("/health/ready").status() == 200);
    }
  }

  private final class Recorded implements Events {
    @Override
    public void publish(EventDraft draft) {
      events.addAll(draft.build());
    }

    @Override
    public Future<Void> accept(EventDraft draft) {
      events.addAll(draft.build());
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> close() {
      return Future.succeededFuture();
    }
  }

  Future<Void> drain() {
    return edge.drain();
  }

  void stopEdge() throws Exception {
    Waiting.on(vertx.undeploy(deployment));
  }

  int port() {
    return edge.port();
  }

  /** The replica says this text to everything, and then ends its turn. */
  EdgeFixture saying(String text) {
    int[] bytes = new ByteTokenizer().encode(text);
    int[] all = Arrays.copyOf(bytes, bytes.length + 1);
    all[bytes.length] = ByteTokenizer.END;
    replica.answering(_ -> all);
    return this;
  }

  HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
        .timeout(Duration.ofSeconds(10));
  }

  Answer send(HttpRequest request) throws Exception {
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    return new Answer(response.statusCode(), response);
  }

  Answer get(String path) throws Exception {
    return send(request(path).header("Authorization", "Bearer " + KEY).build());
  }

  HttpRequest postRequest(String path, String body) {
    return request(path)
        .header("Authorization", "Bearer " + KEY)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  Answer post(String path, String body) throws Exception {
    return send(postRequest(path, body));
  }

  /** A chat of one user message with more fields, which begin with a comma. */
  Answer chat(String more) throws Exception {
    return post(
        "/v1/chat/completions",
        "{\"model\":\"bytes\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]" + more + "}");
  }

  Answer completion(String fields) throws Exception {
    return post("/v1/completions", "{\"model\":\"bytes\"," + fields + "}");
  }

  /** What the template made of a conversation, as text. */
  String promptOf(Submit submit) {
    int[] ids = submit.getPromptList().stream().mapToInt(Integer::intValue).toArray();
    return new String(new ByteTokenizer().bytes(ids), StandardCharsets.UTF_8);
  }

  /** The Event of that Response; others that come before it are dropped. */
  ResponseFinished eventOf(String response) throws InterruptedException {
    while (true) {
      ResponseFinished event = Waiting.forNext(events).getResponse();
      if (event.getResponseId().equals(response)) {
        return event;
      }
    }
  }

  /** The next Event with that status; others that come before it are dropped. */
  ResponseFinished eventWith(String status) throws InterruptedException {
    while (true) {
      ResponseFinished event = Waiting.forNext(events).getResponse();
      if (event.getStatus().equals(status)) {
        return event;
      }
    }
  }

  /** Waits until no request runs any more, and drops the Events so far. */
  void quiet() throws Exception {
    Waiting.until(() -> metric("firstlight_edge_requests_running") == 0);
    events.clear();
  }

  /** The value of a metric without labels we do not care for; 0 when it is not there. */
  double metric(String line) throws Exception {
    return Stream.of(get("/metrics").http().body().split("\n"))
        .filter(one -> one.startsWith(line))
        .mapToDouble(one -> Double.parseDouble(one.substring(one.lastIndexOf(' ') + 1)))
        .sum();
  }

  void close() throws Exception {
    // An answer may be open still, of a test that failed.
    client.shutdownNow();
    Waiting.on(vertx.close());
  }
}
