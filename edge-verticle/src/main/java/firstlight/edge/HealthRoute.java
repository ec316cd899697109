package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.function.BooleanSupplier;

/**
 * GET /health/live (also /health), /health/ready and /metrics. They need no key, so they say
 * nothing about anybody.
 */
final class HealthRoute implements Dialect {
  private static final String PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8";

  private static final String READY = "ready";

  private final Vertx vertx;
  private final EdgeModels models;
  private final ReplicaLinks links;
  private final Rehearsal rehearsal;
  private final PrometheusMeterRegistry meters;
  private final BooleanSupplier isDraining;

  HealthRoute(
      Vertx vertx,
      EdgeModels models,
      ReplicaLinks links,
      Rehearsal rehearsal,
      PrometheusMeterRegistry meters,
      BooleanSupplier isDraining) {
    this.vertx = vertx;
    this.models = models;
    this.links = links;
    this.rehearsal = rehearsal;
    this.meters = meters;
    this.isDraining = isDraining;
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

  private String state(String model) {
    if (!links.ready(model)) {
      return "no replica";
    }
    return rehearsal.done(model) ? READY : "warming up";
  }

  /** Ready is an edge that has a replica for each of its models, is warm, and does not stop. */
  private void ready(RoutingContext http) {
    ObjectNode body = Json.object();
    ObjectNode perModel = Json.object();
    boolean draining = isDraining.getAsBoolean();
    boolean all = !draining;
    for (EdgeModel model : models.all()) {
      String state = state(model.name());
      perModel.put(model.name(), state);
      all &= state.equals(READY);
    }
    String otherwise = draining ? "draining" : "not ready";
    body.put("status", all ? READY : otherwise).set("models", perModel);
    Reply.json(http, all ? 200 : 503, body);
  }

  private void metrics(RoutingContext http) {
    vertx
        .executeBlocking(meters::scrape, false)
        .onSuccess(text -> http.response().putHeader("Content-Type", PROMETHEUS).end(text))
        .onFailure(failure -> Errors.answer(http, failure));
  }
}
