package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.ext.web.Router;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has an edge answer requests of its own before it says that it is ready, so that no client waits
 * for classes to be loaded: over HTTP, through template, tokenizer, replica and writer. They come
 * in by a server of their own on loopback, with a key that nobody else knows.
 */
final class Rehearsal {
  private static final Logger LOG = LoggerFactory.getLogger(Rehearsal.class);
  private static final TenantId TENANT = new TenantId("rehearsal");
  private static final int REQUESTS = 3;
  private static final int ANSWER_TOKENS = 4;

  private final Vertx vertx;
  private final Duration limit;
  private final List<EdgeModel> models;
  private final String key;
  private final Future<HttpServer> server;
  private final HttpClient client;
  private final Set<String> begun = new HashSet<>();
  private final Set<String> done = new HashSet<>();

  /**
   * @param limit for one model; zero: nothing is rehearsed
   * @param key of {@link #tenant}
   * @param router what the edge has for clients, for that tenant
   */
  Rehearsal(Vertx vertx, Duration limit, EdgeModels models, String key, Router router) {
    this.vertx = vertx;
    this.limit = limit;
    this.models = List.copyOf(models.all());
    this.key = key;
    this.client = vertx.createHttpClient();
    if (limit.isZero()) {
      server = Future.failedFuture("nothing is rehearsed");
      this.models.forEach(model -> done.add(model.name()));
    } else {
      server =
          vertx
              .createHttpServer(new HttpServerOptions().setHost("127.0.0.1").setPort(0))
              .requestHandler(router)
              .listen();
    }
  }

  /** The only one there is in a rehearsal. */
  static TenantConfig tenant(String key) {
    return new TenantConfig(
        TENANT,
        List.of(Keys.digest(key)),
        TextPolicy.NONE,
        Integer.MAX_VALUE,
        Integer.MAX_VALUE,
        REQUESTS,
        Duration.ZERO);
  }

  /** Begins with models that are served now; to be called whenever there may be new ones. */
  void look(Predicate<String> served) {
    for (EdgeModel model : models) {
      if (!done.contains(model.name()) && served.test(model.name()) && begun.add(model.name())) {
        begin(model);
      }
    }
  }

  /** Whether the model was rehearsed, or the time for it is up. */
  boolean done(String model) {
    return done.contains(model);
  }

  private void begin(EdgeModel model) {
    long timer = vertx.setTimer(limit.toMillis(), _ -> end(model));
    Future<?> all = server;
    for (int i = 0; i < REQUESTS; i++) {
      int number = i;
      all = all.compose(_ -> ask(model, number));
    }
    all.onComplete(
        asked -> {
          if (asked.failed()) {
            LOG.info("{} is not rehearsed: {}", model.name(), asked.cause().toString());
          }
          vertx.cancelTimer(timer);
          end(model);
        });
  }

  private void end(EdgeModel model) {
    done.add(model.name());
    if (done.size() == models.size()) {
      client.close();
      server.onSuccess(HttpServer::close);
    }
  }

  private Future<?> ask(EdgeModel model, int number) {
    boolean chat = model.template().isPresent();
    String text = number + " is the number of this request. Say hello.";
    ObjectNode body = Json.object().put("model", model.name()).put("stream", true);
    body.put("max_tokens", ANSWER_TOKENS);
    if (chat) {
      body.putArray("messages").addObject().put("role", "user").put("content", text);
    } else {
      body.put("prompt", text);
    }
    String path = chat ? "/v1/chat/completions" : "/v1/completions";
    return client
        .request(HttpMethod.POST, server.result().actualPort(), "127.0.0.1", path)
        .compose(request -> send(request, body))
        .compose(HttpClientResponse::body);
  }

  private Future<HttpClientResponse> send(HttpClientRequest request, ObjectNode body) {
    return request
        .putHeader("Authorization", "Bearer " + key)
        .putHeader("Content-Type", "application/json")
        .send(Json.bytes(body));
  }
}
