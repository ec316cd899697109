package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.function.BiFunction;

/** POST /v1/chat/completions and POST /v1/completions. */
final class CompletionDialects implements Dialect {
  private final EdgeParts parts;
  private final ChatReader chat;
  private final CompletionsReader completions;

  CompletionDialects(EdgeParts parts) {
    this.parts = parts;
    this.chat = new ChatReader(parts);
    this.completions = new CompletionsReader(parts);
  }

  @Override
  public void mount(Router router) {
    router.post("/v1/chat/completions").handler(http -> serve(http, chat::read));
    router.post("/v1/completions").handler(http -> serve(http, completions::read));
  }

  private void serve(
      RoutingContext http, BiFunction<ObjectNode, Caller, CompletionRequest> reader) {
    Caller caller = Caller.of(http);
    parts
        .bodies()
        .read(http, body -> reader.apply(body, caller))
        .map(request -> begun(http, request))
        .onFailure(failure -> Errors.answer(http, failure));
  }

  private CompletionExchange begun(RoutingContext http, CompletionRequest request) {
    CompletionExchange exchange = new CompletionExchange(parts, http, request, writer(request));
    exchange.begin();
    return exchange;
  }

  private CompletionWriter writer(CompletionRequest request) {
    long created = parts.time().epochMillis() / 1_000;
    TokenText texts = TokenText.of(parts.models(), request.turn().model());
    return request.turn().origin().dialect().equals(ChatReader.DIALECT)
        ? new ChatWriter(request, created, texts)
        : new CompletionsWriter(request, created, texts);
  }
}
