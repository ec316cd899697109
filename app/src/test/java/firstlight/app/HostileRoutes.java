package firstlight.app;

import static firstlight.app.Client.object;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Good requests, for others to be made of.
 *
 * @param conversation one that is there
 * @param response one that is stored
 */
record HostileRoutes(String conversation, String response) {
  /** A request; only one by POST has a body. */
  record Route(String method, String path, ObjectNode body) {}

  private static final List<Route> BODIES =
      List.of(
          post(
              "/v1/chat/completions",
              """
              {"model":"smollm2-135m","messages":[{"role":"system","content":"s"},
               {"role":"user","content":[{"type":"text","text":"hello"}]}],"max_tokens":2,
               "temperature":0.5,"top_p":0.9,"stop":["x"],"n":1,"seed":3,"logprobs":true,
               "top_logprobs":1,"logit_bias":{"5":1},"stream":false,"tools":[{"type":"function",
               "function":{"name":"f","parameters":{"type":"object","properties":{"a":{}}}}}],
               "tool_choice":"auto","response_format":{"type":"text"},"metadata":{"a":"b"}}\
              """),
          post(
              "/v1/chat/completions",
              """
              {"model":"smollm2-135m","messages":[{"role":"user","content":"hello"},
               {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":
               {"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}],
               "max_completion_tokens":4,"stream":true,"stream_options":{"include_usage":true},
               "response_format":{"type":"json_schema","json_schema":{"name":"n","schema":
               {"type":"object","properties":{"a":{"type":"string","pattern":"^a+$"},
               "b":{"anyOf":[{"type":"integer","minimum":3},{"$ref":"#/$defs/c"}]}},
               "$defs":{"c":{"type":"array","items":{"enum":[1,"x"]},"maxItems":3}},
               "required":["a"]}}}}\
              """),
          post(
              "/v1/completions",
              """
              {"model":"smollm2-135m","prompt":["hello",[1,2]],"max_tokens":2,"echo":false,
               "logprobs":1,"stream":true,"stream_options":{"include_usage":true},
               "structured_outputs":{"regex":"[a-z]{2,9}"},"return_token_ids":true}\
              """),
          post(
              "/v1/responses",
              """
              {"model":"smollm2-135m","input":[{"type":"message","role":"user","content":
               [{"type":"input_text","text":"hello"}]},{"type":"function_call","call_id":"c",
               "name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c",
               "output":"x"}],"max_output_tokens":2,"store":false,"instructions":"i",
               "text":{"format":{"type":"json_object"}},"tools":[{"type":"function","name":"f",
               "parameters":{"type":"object"}}],"tool_choice":"auto","stream":true,
               "include":["message.output_text.logprobs"],"reasoning":{"effort":"low"}}\
              """),
          post(
              "/v1/responses",
              """
              {"model":"smollm2-135m","input":"hello","max_output_tokens":3,"background":true,
               "truncation":"auto","previous_response_id":"{response}","metadata":{"a":"b"}}\
              """),
          post(
              "/v1/responses",
              """
              {"model":"smollm2-135m","input":"hello","max_output_tokens":2,"stream":true,
               "conversation":{"id":"{conversation}"},"service_tier":"flex","user":"u"}\
              """),
          post(
              "/v1/responses/input_tokens",
              """
              {"model":"smollm2-135m","input":"hello","previous_response_id":"{response}"}\
              """),
          post(
              "/v1/responses/compact",
              """
              {"model":"smollm2-135m","input":[{"role":"user","content":"hello"}]}\
              """),
          post(
              "/v1/messages",
              """
              {"model":"smollm2-135m","max_tokens":2,"system":[{"type":"text","text":"s"}],
               "messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}],
               "tools":[{"name":"f","input_schema":{"type":"object"}}],
               "tool_choice":{"type":"auto"},"stop_sequences":["x"],"stream":false}\
              """),
          post(
              "/v1/messages/count_tokens",
              """
              {"model":"smollm2-135m","messages":[{"role":"user","content":"hello"}]}\
              """),
          post(
              "/v1/conversations",
              """
              {"metadata":{"a":"b"},"items":[{"type":"message","role":"user","content":"hi"}]}\
              """),
          post("/v1/conversations/{conversation}", "{\"metadata\":{\"a\":\"c\"}}"),
          post(
              "/v1/conversations/{conversation}/items",
              """
              {"items":[{"type":"message","role":"user","content":[{"type":"input_text",
               "text":"hi"}]}]}\
              """),
          post(
              "/v1/feedback",
              """
              {"target":{"response_id":"{response}"},"name":"n","value":1,"comment":"c",
               "metadata":{"a":"b"}}\
              """));

  private static final List<String> OTHERS =
      List.of(
          "GET /v1/models",
          "GET /v1/models/smollm2-135m",
          "GET /health/ready",
          "GET /metrics",
          "GET /v1/responses",
          "GET /v1/responses/{response}",
          "GET /v1/responses/{response}?stream=true&starting_after=2",
          "GET /v1/responses/{response}/input_items?limit=2&order=asc",
          "POST /v1/responses/{response}/cancel",
          "GET /v1/conversations/{conversation}",
          "GET /v1/conversations/{conversation}/items?limit=3&order=desc&after=x",
          "GET /v1/conversations/{conversation}/items/msg_x",
          "DELETE /v1/conversations/{conversation}/items/msg_x",
          "DELETE /v1/conversations/conv_x",
          "DELETE /v1/responses/resp_x",
          "OPTIONS /v1/responses");

  private static Route post(String path, String body) {
    return new Route("POST", path, object(body));
  }

  /** All with a body. */
  List<Route> withBody() {
    return BODIES.stream().map(this::named).toList();
  }

  /** One of those with a body. */
  Route withBody(SplittableRandom random) {
    return named(BODIES.get(random.nextInt(BODIES.size())));
  }

  private Route named(Route route) {
    return new Route(route.method, named(route.path), object(named(route.body.toString())));
  }

  /** One without: the method, a blank and the target. */
  String bare(SplittableRandom random) {
    return named(OTHERS.get(random.nextInt(OTHERS.size())));
  }

  private String named(String text) {
    return text.replace("{conversation}", conversation).replace("{response}", response);
  }
}
