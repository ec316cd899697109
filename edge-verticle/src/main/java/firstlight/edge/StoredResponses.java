package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import io.vertx.core.Future;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** What can be done with a Response by its id: get it, stream it again, cancel it, delete it. */
final class StoredResponses implements Dialect {
  private static final String PATH = "/v1/responses/:id";

  private final EdgeParts parts;
  private final ResponseParts responses;
  private final ResponseStore store;
  private final ResponseBackground background;

  StoredResponses(ResponseParts responses, ResponseBackground background) {
    this.parts = responses.edge();
    this.responses = responses;
    this.store = responses.store();
    this.background = background;
  }

  @Override
  public void mount(Router router) {
    router.get(PATH).handler(this::get);
    router.delete(PATH).handler(this::delete);
    router.post(PATH + "/cancel").handler(this::cancel);
    router.get(PATH + "/input_items").handler(this::inputItems);
  }

  private void get(RoutingContext context) {
    if ("true".equals(context.request().getParam("stream"))) {
      stream(context);
      return;
    }
    byId(context, background::state)
        .onSuccess(
            running ->
                running.ifPresentOrElse(
                    state -> Reply.json(context, 200, state),
                    () ->
                        found(context)
                            .onSuccess(turn -> reply(context, turn.resource()))
                            .onFailure(failure -> Errors.answer(context, failure))))
        .onFailure(failure -> Errors.answer(context, failure));
  }

  private void stream(RoutingContext context) {
    long after;
    ResponseId response;
    try {
      after = startingAfter(context.request().getParam("starting_after"));
      String id = context.pathParam("id");
      response = ResponseErrors.id(id, ResponseErrors.responseNotFound(id));
    } catch (MeshException e) {
      Errors.answer(context, e);
      return;
    }
    ResponseAnswer.Streamed reader = new ResponseAnswer.Streamed(context, parts);
    ResponseRest rest =
        new ResponseRest(
            responses, background, Caller.of(context).tenant(), response, after, reader);
    reader.steer(rest);
    Reply.whenGone(context, rest::cancel);
    rest.next();
  }

  private static long startingAfter(@Nullable String number) {
    try {
      return number == null ? -1 : Long.parseLong(number);
    } catch (NumberFormatException _) {
      throw MeshException.invalid("starting_after must be a number.", "starting_after");
    }
  }

  private static void reply(RoutingContext context, String json) {
    if (!context.response().closed()) {
      context.response().putHeader("Content-Type", "application/json").end(json);
    }
  }

  private void cancel(RoutingContext context) {
    byId(context, background::cancel)
        .onSuccess(
            running ->
                running.ifPresentOrElse(
                    state -> Reply.json(context, 200, state), () -> cancelEnded(context)))
        .onFailure(failure -> Errors.answer(context, failure));
  }

  /** To cancel what has ended changes nothing. */
  private void cancelEnded(RoutingContext context) {
    found(context)
        .onSuccess(
            turn -> {
              if (parts.json().value(turn.resource()).path("background").asBoolean()) {
                reply(context, turn.resource());
              } else {
                Errors.answer(
                    context,
                    MeshException.invalid(
                        "Only a response with background: true can be cancelled.", "response_id"));
              }
            })
        .onFailure(failure -> Errors.answer(context, failure));
  }

  /** One that still runs ends first, or it would be stored afterwards. */
  private void delete(RoutingContext context) {
    byId(
            context,
            (tenant, id) -> background.cancel(tenant, id).compose(_ -> store.delete(tenant, id)))
        .onSuccess(
            _ ->
                Reply.json(
                    context,
                    200,
                    Json.object()
                        .put("id", context.pathParam("id"))
                        .put("object", "response")
                        .put("deleted", true)))
        .onFailure(failure -> Errors.answer(context, failure));
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
    return byId(
        context, (tenant, id) -> store.history(tenant, id).map(turns -> response(turns.getLast())));
  }

  /** The turns of conversations are in the same store, and are no Responses. */
  static StoredTurn response(StoredTurn turn) {
    if (turn.resource().isEmpty()) {
      throw ResponseErrors.responseNotFound(turn.response().value());
    }
    return turn;
  }

  /** Does something with the Response that the path names; where there is none it is not found. */
  private static <T> Future<T> byId(
      RoutingContext context, BiFunction<TenantId, ResponseId, Future<T>> action) {
    String id = context.pathParam("id");
    MeshException missing = ResponseErrors.responseNotFound(id);
    return Future.succeededFuture()
        .compose(_ -> action.apply(Caller.of(context).tenant(), ResponseErrors.id(id, missing)))
        .recover(
            failure ->
                Future.failedFuture(
                    failure instanceof MeshException known && known.kind() == FailureKind.NOT_FOUND
                        ? missing
                        : failure));
  }
}
