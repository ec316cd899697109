package firstlight.edge;

import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;

/** Anthropic's messages: POST /v1/messages and POST /v1/messages/count_tokens. */
final class MessagesDialect implements Dialect {
  private final EdgeParts parts;
  private final MessagesReader reader;

  MessagesDialect(EdgeParts parts) {
    this.parts = parts;
    this.reader = new MessagesReader(parts);
  }

  @Override
  public void mount(Router router) {
    router.post("/v1/messages").handler(this::answer);
    router.post("/v1/messages/count_tokens").handler(this::count);
  }

  private void answer(RoutingContext http) {
    Caller caller = Caller.of(http);
    parts
        .bodies()
        .read(http, body -> reader.read(body, caller))
        .map(request -> begun(http, request))
        .onFailure(failure -> Errors.answer(http, failure));
  }

  private MessagesExchange begun(RoutingContext http, MessagesReader.Request request) {
    IgnoredFields.tell(http.response(), request.ignored());
    MessagesExchange exchange = new MessagesExchange(parts, http, request.turn());
    exchange.begin();
    return exchange;
  }

  private void count(RoutingContext http) {
    Caller caller = Caller.of(http);
    parts
        .bodies()
        .read(http, body -> reader.readForCount(body, caller))
        .compose(
            request -> {
              IgnoredFields.tell(http.response(), request.ignored());
              return parts.turns().measure(request.turn()).map(PromptSize::tokens);
            })
        .onSuccess(tokens -> Reply.json(http, 200, Json.object().put("input_tokens", tokens)))
        .onFailure(failure -> Errors.answer(http, failure));
  }
}
