package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshCodec;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.ResponseId;
import firstlight.protocol.Settings;
import firstlight.protocol.SimulatedTime;
import firstlight.protocol.TenantId;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/**
 * The dialect on a real port, with turns and stored Responses that a test rules. There are two
 * instances of it, as several edges are in one process, each with an event loop of its own;
 * requests go to the first one unless a test says otherwise.
 */
final class ResponsesServer implements AutoCloseable {
  static final WebSocketLimits WEB_SOCKETS =
      new WebSocketLimits(
          8,
          Duration.ofMinutes(1),
          Duration.ofSeconds(10),
          Duration.ofSeconds(20),
          Duration.ofSeconds(20),
          Duration.ofMillis(500),
          400_000,
          2,
          4_096,
          10_000);
  static final Duration STORE_TIMEOUT = Duration.ofSeconds(20);
  private static final long SECONDS_MAX = 30;

  final Vertx vertx = Vertx.vertx();
  final ScriptedTurns turns = new ScriptedTurns(vertx);
  final FakeSession session;
  final Json json;
  private final SimulatedTime time = new SimulatedTime();
  private final ResponseParts responses;
  private final HttpServer server;
  private final HttpServer other;
  private final HttpClient client = HttpClient.newHttpClient();

  ResponsesServer() {
    this(UnaryOperator.identity(), STORE_TIMEOUT);
  }

  /**
   * @param storeTimeout how long the session may take
   */
  ResponsesServer(UnaryOperator<WebSocketLimits> limits, Duration storeTimeout) {
    MeshCodec.register(vertx.eventBus());
    session = new FakeSession(vertx.eventBus());
    EdgeConfig config =
        EdgeConfig.read(Settings.parse("edge: {open: true}", _ -> null).section("edge"));
    json = new Json(config.limits());
    EdgeParts parts =
        new EdgeParts(
            vertx,
            config,
            new NodeId("n1"),
            new EdgeModels(
                List.of(new EdgeModel("m", new ByteTokenizer(), Optional.empty(), 1_000, "d", 0))),
            turns,
            new Bodies(vertx, config, json),
            json,
            new NoEvents(),
            time,
            new IdSource(new SplittableRandom(3)));
    responses =
        new ResponseParts(
            parts,
            new ResponseStore(vertx.eventBus(), storeTimeout),
            new ResponsesReader(config.limits(), json, parts.ids()),
            limits.apply(WEB_SOCKETS));
    server = listen();
    other = listen();
  }

  private HttpServer listen() {
    Router router = Router.router(vertx);
    router
        .route()
        .handler(
            context -> {
              String tenant = context.request().getHeader("tenant");
              new Caller(new TenantId(tenant == null ? "a" : tenant), "req_1", 0).keepIn(context);
              context.next();
            });
    new ResponsesDialect(responses).mount(router);
    new ConversationsRoute(responses.edge(), responses.store()).mount(router);
    Promise<HttpServer> listening = Promise.promise();
    vertx.runOnContext(
        _ ->
            vertx
                .createHttpServer(responses.webSockets().configure(new HttpServerOptions()))
                .requestHandler(router)
                .listen(0, "127.0.0.1")
                .onComplete(listening));
    return await(listening.future());
  }

  /** Of the tenant a; nobody hears of it. */
  ResponseRun run(String body) {
    ResponseRequest request =
        responses
            .reader()
            .read(json.object(Buffer.buffer(quoted(body))), ResponsesReader.Transport.HTTP);
    return new ResponseRun(
        responses, new Caller(new TenantId("a"), "req_1", 0), request, new Nobody());
  }

  /** The events of a Response of the tenant a; to be used on one event loop. */
  ResponseRest rest(ResponseId response, ResponseRest.Listener listener) {
    return new ResponseRest(
        responses, new ResponseBackground(responses), new TenantId("a"), response, -1, listener);
  }

  /** Lets time pass; timers do not know of it. */
  void advance(Duration span) {
    Promise<Void> done = Promise.promise();
    vertx.runOnContext(
        _ -> {
          time.advance(span);
          done.complete();
        });
    await(done.future());
  }

  int port() {
    return server.actualPort();
  }

  /** That of the other instance. */
  int otherPort() {
    return other.actualPort();
  }

  HttpResponse<String> post(String body, String... headers) {
    return postTo("/v1/responses", body, headers);
  }

  /** To another path than that of new Responses. */
  HttpResponse<String> postTo(String path, String body, String... headers) {
    return send(posting(builder(path, headers), body));
  }

  private static HttpRequest posting(HttpRequest.Builder request, String body) {
    return request
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(quoted(body)))
        .build();
  }

  HttpResponse<String> get(String path, String... headers) {
    return send(builder(path, headers).build());
  }

  /** The answer will come from the instance at that port. */
  CompletableFuture<HttpResponse<String>> getLater(int port, String path) {
    return client.sendAsync(builder(port, path).build(), HttpResponse.BodyHandlers.ofString());
  }

  /** A Response whose answer will come. */
  CompletableFuture<HttpResponse<String>> postLater(String body) {
    return postLater(port(), "/v1/responses", body);
  }

  /** As {@link #getLater}. */
  CompletableFuture<HttpResponse<String>> postLater(int port, String path, String body) {
    return client.sendAsync(
        posting(builder(port, path), body), HttpResponse.BodyHandlers.ofString());
  }

  HttpResponse<String> delete(String path, String... headers) {
    return send(builder(path, headers).DELETE().build());
  }

  CompletableFuture<HttpResponse<String>> deleteLater(String path) {
    return client.sendAsync(builder(path).DELETE().build(), HttpResponse.BodyHandlers.ofString());
  }

  /** A Response in one piece, which must succeed. */
  ObjectNode create(String body) {
    HttpResponse<String> answer = post(body);
    if (answer.statusCode() != 200) {
      throw new AssertionError(answer.statusCode() + " " + answer.body());
    }
    return object(answer);
  }

  ObjectNode object(HttpResponse<String> answer) {
    return json.object(Buffer.buffer(answer.body()));
  }

  /** The events of a stream, which must end as it should. */
  List<ObjectNode> events(HttpResponse<String> answer) {
    List<ObjectNode> events = new ArrayList<>();
    String[] blocks = answer.body().split("\n\n");
    for (int i = 0; i < blocks.length - 1; i++) {
      String[] lines = blocks[i].split("\n");
      ObjectNode event = json.object(Buffer.buffer(lines[1].substring("data: ".length())));
      if (lines.length != 2 || !lines[0].equals("event: " + event.get("type").textValue())) {
        throw new AssertionError("not an event: " + blocks[i]);
      }
      events.add(event);
    }
    if (!blocks[blocks.length - 1].equals("data: [DONE]")) {
      throw new AssertionError("no [DONE] at the end: " + answer.body());
    }
    return events;
  }

  static String text(JsonNode response) {
    return response.at("/output/0/content/0/text").asText();
  }

  static String quoted(String body) {
    return body.replace('\'', '"');
  }

  /** Looks again and again until it is so. */
  static void eventually(BooleanSupplier condition) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS_MAX);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("it did not become so within %d s".formatted(SECONDS_MAX));
      }
      Thread.onSpinWait();
    }
  }

  static <T> T await(Future<T> future) {
    try {
      return future.toCompletionStage().toCompletableFuture().get(SECONDS_MAX, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    client.close();
    await(vertx.close());
  }

  private HttpRequest.Builder builder(String path, String... headers) {
    HttpRequest.Builder builder = builder(port(), path);
    return headers.length == 0 ? builder : builder.headers(headers);
  }

  private static HttpRequest.Builder builder(int port, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .timeout(Duration.ofSeconds(SECONDS_MAX));
  }

  private HttpResponse<String> send(HttpRequest request) {
    try {
      return client.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static final class Nobody implements ResponseRun.Listener {
    @Override
    public void events(List<ObjectNode> events) {}

    @Override
    public void ended(ObjectNode response, ResponseHistory history) {}

    @Override
    public void failed(MeshException failure, boolean started) {}
  }

  private static final class NoEvents implements Events {
    @Override
    public void publish(EventDraft draft) {}

    @Override
    public Future<Void> accept(EventDraft draft) {
      return Future.succeededFuture();
    }

    @Override
    public Future<Void> close() {
      return Future.succeededFuture();
    }
  }
}
