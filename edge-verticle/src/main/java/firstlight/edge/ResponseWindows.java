package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.core.Future;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.List;
import java.util.Map;

/** What can be asked about a conversation without going on with it: its length, and a summary. */
final class ResponseWindows implements Dialect {
  private static final String PATH = "/v1/responses";
  private static final int SUMMARY_TOKENS_MAX = 1_024;
  private static final List<String> COMPACT_FIELDS =
      List.of("model", "input", "previous_response_id", "instructions", "prompt_cache_key");

  private final EdgeParts parts;
  private final ResponseParts responses;

  ResponseWindows(ResponseParts responses) {
    this.parts = responses.edge();
    this.responses = responses;
  }

  @Override
  public void mount(Router router) {
    router.post(PATH + "/input_tokens").handler(this::inputTokens);
    router.post(PATH + "/compact").handler(this::compact);
  }

  private void inputTokens(RoutingContext context) {
    parts
        .bodies()
        .read(context, this::read)
        .compose(
            request -> {
              IgnoredFields.tell(context.response(), request.ignored());
              return new ResponsePreparation(responses, Caller.of(context), request).prepare(null);
            })
        .compose(prepared -> parts.turns().measure(prepared.turn()))
        .onSuccess(
            size ->
                Reply.json(
                    context,
                    200,
                    Json.object()
                        .put("object", "response.input_tokens")
                        .put("input_tokens", size.tokens())))
        .onFailure(failure -> Errors.answer(context, failure));
  }

  private void compact(RoutingContext context) {
    parts
        .bodies()
        .read(context, body -> new Compaction(read(summaryOf(body)), unknown(body)))
        .compose(
            asked -> {
              IgnoredFields.tell(context.response(), asked.ignored());
              return compacted(context, asked.request());
            })
        .onSuccess(window -> Reply.json(context, 200, window))
        .onFailure(failure -> Errors.answer(context, failure));
  }

  /** What was asked for, and the fields that had no effect. */
  private record Compaction(ResponseRequest request, List<String> ignored) {}

  private static List<String> unknown(ObjectNode body) {
    return body.propertyStream()
        .map(Map.Entry::getKey)
        .filter(name -> !COMPACT_FIELDS.contains(name))
        .toList();
  }

  private Future<ObjectNode> compacted(RoutingContext context, ResponseRequest request) {
    return new ResponsePreparation(responses, Caller.of(context), request)
        .prepare(null)
        .compose(
            prepared -> {
              ResponseCompaction compaction = new ResponseCompaction(parts, request, prepared);
              Reply.whenGone(context, compaction::cancel);
              return compaction.run();
            });
  }

  private ResponseRequest read(ObjectNode body) {
    return responses.reader().read(body, ResponsesReader.Transport.HTTP);
  }

  /** The request for a Response that is asked instead. */
  private static ObjectNode summaryOf(ObjectNode body) {
    ObjectNode request = Json.object();
    for (String field : COMPACT_FIELDS) {
      if (body.has(field)) {
        request.set(field, body.get(field));
      }
    }
    return request.put("max_output_tokens", SUMMARY_TOKENS_MAX).put("store", false);
  }
}
