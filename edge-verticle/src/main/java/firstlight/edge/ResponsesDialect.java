package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.http.HttpConnection;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Open Responses, version 2026-04-24, for text: {@code POST /v1/responses} plain and as a stream,
 * the same path as a WebSocket, and the stored Responses under it.
 */
final class ResponsesDialect implements Dialect {
  private static final String PATH = "/v1/responses";
  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);
  private static final long RETRY_MILLIS = 10_000;

  private final EdgeParts parts;
  private final ResponseParts responses;
  private final ResponseBackground background;
  private int connections;

  ResponsesDialect(EdgeParts parts) {
    this(
        new ResponseParts(
            parts,
            new ResponseStore(parts.vertx().eventBus(), STORE_TIMEOUT),
            new ResponsesReader(parts.config().limits(), parts.json(), parts.ids()),
            WebSocketLimits.of(parts.config())));
  }

  ResponsesDialect(ResponseParts responses) {
    this.parts = responses.edge();
    this.responses = responses;
    this.background = new ResponseBackground(responses);
  }

  @Override
  public void mount(Router router) {
    router.post(PATH).handler(this::create);
    router.get(PATH).handler(this::connect);
    new ResponseWindows(responses).mount(router);
    new StoredResponses(responses, background).mount(router);
  }

  private void create(RoutingContext context) {
    parts
        .bodies()
        .read(context, body -> responses.reader().read(body, ResponsesReader.Transport.HTTP))
        .onSuccess(request -> run(context, request))
        .onFailure(failure -> Errors.answer(context, failure));
  }

  private void run(RoutingContext context, ResponseRequest request) {
    IgnoredFields.tell(context.response(), request.ignored());
    if (request.background()) {
      runOn(context, request);
      return;
    }
    ResponseAnswer answer =
        request.stream()
            ? new ResponseAnswer.Streamed(context, parts)
            : new ResponseAnswer.Whole(context);
    ResponseRun run = new ResponseRun(responses, Caller.of(context), request, answer);
    answer.steer(run);
    Reply.whenGone(context, run::cancel);
    run.start(null);
  }

  /** As {@link #run}, but it does not end with its client. */
  private void runOn(RoutingContext context, ResponseRequest request) {
    ResponseAnswer.Streamed reader =
        request.stream() ? new ResponseAnswer.Streamed(context, parts) : null;
    background
        .start(Caller.of(context), request, reader)
        .onSuccess(
            response -> {
              if (reader == null) {
                Reply.json(context, 200, response);
              }
            })
        .onFailure(failure -> Errors.answer(context, failure));
  }

  private void connect(RoutingContext context) {
    WebSocketUpgrade.Refusal refusal = refusal(context);
    if (refusal != null) {
      Errors.answer(context, refusal.status(), refusal.failure());
      return;
    }
    count(1);
    HttpConnection connection = context.request().connection();
    context
        .request()
        .toWebSocket()
        .map(
            socket ->
                new WebSocketConnection(
                    responses, background, Caller.of(context), connection, socket, () -> count(-1)))
        .onFailure(
            _ -> {
              count(-1);
              Errors.answer(
                  context, MeshException.invalid("This is not a WebSocket handshake.", "Upgrade"));
            });
  }

  private void count(int more) {
    connections += more;
    EdgeTotals.of(parts.vertx()).add(EdgeTotals.Count.WEB_SOCKETS, more);
  }

  private WebSocketUpgrade.@Nullable Refusal refusal(RoutingContext context) {
    int max = responses.webSockets().connectionsMax();
    if (connections < max) {
      return WebSocketUpgrade.refusal(context.request(), parts.config().corsOrigins());
    }
    MeshException full =
        new MeshException(
            FailureKind.OVERLOADED,
            "connections_exceeded",
            "There are %d connections, which is the most. Try again.".formatted(max),
            null,
            RETRY_MILLIS);
    return new WebSocketUpgrade.Refusal(Errors.status(full), full);
  }
}
