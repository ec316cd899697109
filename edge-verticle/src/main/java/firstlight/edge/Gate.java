package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshException;
import firstlight.protocol.TenantId;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.CorsHandler;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What every request passes, whatever it asks for: it gets an id; without a good key it goes no
 * further than health and metrics; and a path that only becomes a route after tidying up is none.
 */
final class Gate {
  static final String REQUEST_ID = "x-request-id";

  private static final Pattern SAFE_ID = Pattern.compile("[A-Za-z0-9._:-]{1,128}");
  private static final TenantId NOBODY = new TenantId("nobody");
  private static final Set<String> OPEN_PATHS =
      Set.of("/health", "/health/live", "/health/ready", "/metrics");

  private static final Pattern ROUTE =
      Pattern.compile(
          "/(?:health(?:/live|/ready)?|metrics|feedback|api/public/scores|v1/(?:chat/completions|"
              + "completions|models|feedback|responses(?:/input_tokens|/compact)?|"
              + "conversations|messages(?:/count_tokens)?))");

  private final EdgeConfig config;
  private final Keys keys;
  private final FailureEvents failures;
  private final IdSource ids;

  Gate(EdgeConfig config, FailureEvents failures, IdSource ids) {
    this.config = config;
    this.keys = new Keys(config);
    this.failures = failures;
    this.ids = ids;
  }

  /** The route of a request as a label of metrics: one of few. */
  static String route(HttpServerRequest request) {
    String path = String.valueOf(request.path());
    return ROUTE.matcher(path).matches() ? path : "other";
  }

  /** Stands before all other routes. */
  void mount(Router router) {
    router.route().handler(this::identify);
    if (!config.corsOrigins().isEmpty()) {
      router.route().handler(cors(config.corsOrigins()));
    }
    router.route().handler(this::authenticate);
    router.errorHandler(404, Gate::unknown);
    router.errorHandler(405, Gate::wrongMethod);
    router.errorHandler(400, http -> Errors.answer(http, badRequest()));
    router.errorHandler(
        500,
        http ->
            Errors.answer(
                http,
                http.failure() == null
                    ? new IllegalStateException("a route failed without a reason")
                    : http.failure()));
  }

  private void identify(RoutingContext http) {
    String given = http.request().getHeader(REQUEST_ID);
    String id = given != null && SAFE_ID.matcher(given).matches() ? given : ids.next("req_");
    http.response().putHeader(REQUEST_ID, id).putHeader("X-Content-Type-Options", "nosniff");
    if (AnthropicErrors.expected(http)) {
      http.response().putHeader(AnthropicErrors.REQUEST_ID, id);
    }
    new Caller(NOBODY, id, 0).keepIn(http);
    failures.keepIn(http);
    MeshException problem = HttpForm.problem(http.request());
    if (problem == null) {
      http.next();
    } else {
      Errors.answer(http, problem);
    }
  }

  private void authenticate(RoutingContext http) {
    if (OPEN_PATHS.contains(http.request().path())) {
      http.next();
      return;
    }
    try {
      TenantId tenant = keys.tenant(http.request());
      long firstToken = Urgency.firstTokenMillis(http.request());
      new Caller(tenant, Caller.of(http).requestId(), firstToken).keepIn(http);
    } catch (MeshException e) {
      Errors.answer(http, e);
      return;
    }
    boolean tidy;
    try {
      tidy = isTidy(http);
    } catch (IllegalArgumentException _) {
      Errors.answer(
          http, MeshException.invalid("A percent sign in the path encodes nothing.", null));
      return;
    }
    if (tidy) {
      http.next();
    } else {
      unknown(http);
    }
  }

  /**
   * @throws IllegalArgumentException what stands behind a percent sign is no hexadecimal number
   */
  private static boolean isTidy(RoutingContext http) {
    String path = http.request().path();
    return path != null
        && path.equals(http.normalizedPath())
        && (path.length() == 1 || !path.endsWith("/"));
  }

  private static CorsHandler cors(List<String> origins) {
    CorsHandler cors = CorsHandler.create();
    if (!origins.contains("*")) {
      cors.addOrigins(origins);
    }
    return cors.allowedMethods(Set.of(HttpMethod.GET, HttpMethod.POST, HttpMethod.DELETE))
        .allowedHeaders(
            Set.of(
                "Authorization",
                Keys.HEADER,
                "Content-Type",
                REQUEST_ID,
                Urgency.HEADER,
                "anthropic-version",
                "anthropic-beta",
                "anthropic-dangerous-direct-browser-access"))
        .exposedHeaders(Set.of(REQUEST_ID, "Retry-After", "retry-after-ms", IgnoredFields.HEADER))
        .maxAgeSeconds(600);
  }

  private static void unknown(RoutingContext http) {
    Errors.answer(
        http,
        new MeshException(
            FailureKind.NOT_FOUND,
            "unknown_url",
            "There is nothing at %s %s. There are POST /v1/chat/completions, /v1/completions,"
                    .formatted(http.request().method(), EdgeModels.shown(http.request().path()))
                + " /v1/responses (also as a WebSocket), /v1/responses/input_tokens,"
                + " /v1/responses/compact, /v1/conversations, /v1/messages,"
                + " /v1/messages/count_tokens, /v1/feedback, /api/public/scores and /feedback, GET"
                + " /v1/models, /health/live, /health/ready and /metrics."));
  }

  private static void wrongMethod(RoutingContext http) {
    Errors.answer(
        http,
        405,
        new MeshException(
            FailureKind.INVALID_REQUEST,
            "method_not_allowed",
            "%s does not have the method %s."
                .formatted(
                    EdgeModels.shown(http.request().path()),
                    EdgeModels.shown(http.request().method().name()))));
  }

  private static MeshException badRequest() {
    return MeshException.invalid("The request is not valid HTTP.", null);
  }
}
