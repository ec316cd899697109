package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;

/**
 * GET /health/live (also /health), /health/ready and /metrics. They need no key, so they say
 * nothing about anybody.
 */
final class HealthRoute implements Dialect {
  private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

  private final Vertx vertx;
  private final EdgeModels models;
  private final ReplicaLinks links;
  private final PrometheusMeterRegistry meters;

  HealthRoute(Vertx vertx, EdgeModels models, ReplicaLinks links, PrometheusMeterRegistry meters) {
    this.vertx = vertx;
    this.models = models;
    this.links = links;
    this.meters = meters;
  }

  @Override
  public void mount(Router router) {
    router.get("/health").handler(HealthRoute::live);
    router.get("/health/live").handler(HealthRoute::live);
    router.get("/health/ready").handler(this::ready);
    router.get("/metrics").handler(this::metrics);
  }

  private static void live(RoutingContext http) {
    Reply.json(http, 200, Json.object().put("status", "live"));
  }

  /** Ready is an edge that has a replica for each of its models. */
  private void ready(RoutingContext http) {
    ObjectNode body = Json.object();
    ObjectNode perModel = Json.object();
    boolean all = true;
    for (EdgeModel model : models.all()) {
      boolean ready = links.ready(model.name());
      perModel.put(model.name(), ready ? "ready" : "no replica");
      all &= ready;
    }
    body.put("status", all ? "ready" : "not ready").set("models", perModel);
    Reply.json(http, all ? 200 : 503, body);
  }

  private void metrics(RoutingContext http) {
    vertx
        .executeBlocking(meters::scrape, false)
        .onSuccess(text -> http.response().putHeader("Content-Type", PROMETHEUS).end(text))
        .onFailure(failure -> Errors.answer(http, failure));
  }
}
