package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.StoredTurn;
import io.vertx.core.Future;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.List;
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
  private final ResponseStore store;
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
    this.store = responses.store();
  }

  @Override
  public void mount(Router router) {
    router.post(PATH).handler(this::create);
    router.get(PATH).handler(this::connect);
    router.get(PATH + "/:id").handler(this::get);
    router.delete(PATH + "/:id").handler(this::delete);
    router.get(PATH + "/:id/input_items").handler(this::inputItems);
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
    ResponseAnswer answer =
        request.stream()
            ? new ResponseAnswer.Streamed(context, parts)
            : new ResponseAnswer.Whole(context);
    ResponseRun run = new ResponseRun(responses, Caller.of(context), request, answer);
    answer.steer(run);
    Reply.whenGone(context, run::cancel);
    run.start(null);
  }

  private void connect(RoutingContext context) {
    WebSocketUpgrade.Refusal refusal = refusal(context);
    if (refusal != null) {
      Errors.answer(context, refusal.status(), refusal.failure());
      return;
    }
    connections++;
    context
        .request()
        .toWebSocket()
        .map(
            socket ->
                new WebSocketConnection(responses, Caller.of(context), socket, () -> connections--))
        .onFailure(
            _ -> {
              connections--;
              Errors.answer(
                  context, MeshException.invalid("This is not a WebSocket handshake.", "Upgrade"));
            });
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

  private void get(RoutingContext context) {
    if ("true".equals(context.request().getParam("stream"))) {
      Errors.answer(context, MeshException.invalid("stream is not supported yet here.", "stream"));
      return;
    }
    found(context)
        .onSuccess(turn -> reply(context, turn.resource()))
        .onFailure(failure -> Errors.answer(context, failure));
  }

  private static void reply(RoutingContext context, String json) {
    if (!context.response().closed()) {
      context.response().putHeader("Content-Type", "application/json").end(json);
    }
  }

  private void delete(RoutingContext context) {
    String id = context.pathParam("id");
    MeshException missing = ResponseErrors.responseNotFound(id);
    Future.succeededFuture()
        .compose(_ -> store.delete(Caller.of(context).tenant(), ResponseErrors.id(id, missing)))
        .onSuccess(
            _ ->
                Reply.json(
                    context,
                    200,
                    Json.object().put("id", id).put("object", "response").put("deleted", true)))
        .onFailure(failure -> Errors.answer(context, asMissing(failure, missing)));
  }

  private void inputItems(RoutingContext context) {
    found(context)
        .map(
            turn ->
                ResponseItemList.page(parts.json().value(turn.input()), context.request().params()))
        .onSuccess(list -> Reply.json(context, 200, list))
        .onFailure(failure -> Errors.answer(context, failure));
  }

  /** The stored turn that the path names, if it is the caller's. */
  private Future<StoredTurn> found(RoutingContext context) {
    String id = context.pathParam("id");
    MeshException missing = ResponseErrors.responseNotFound(id);
    return Future.succeededFuture()
        .compose(_ -> store.history(Caller.of(context).tenant(), ResponseErrors.id(id, missing)))
        .map(List::getLast)
        .recover(failure -> Future.failedFuture(asMissing(failure, missing)));
  }

  private static Throwable asMissing(Throwable failure, MeshException missing) {
    return failure instanceof MeshException known && known.kind() == FailureKind.NOT_FOUND
        ? missing
        : failure;
  }
}
