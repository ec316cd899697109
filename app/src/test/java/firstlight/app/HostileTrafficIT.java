package firstlight.app;

import static firstlight.app.Client.object;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Whatever is sent to the routes, the answer is never a failure of the server, others are served as
 * before, and nothing is left behind. {@code -Dhostile=10000} takes as many, {@code -DhostileSeed}
 * others.
 */
@ExtendWith(SharedFirstlight.class)
class HostileBodiesIT {
  private static final int BODIES = Integer.getInteger("hostile", 400);
  private static final long SEED = Long.getLong("hostileSeed", 1);
  private static final int CONTROL_EVERY = 20;

  private static final Map<String, ObjectNode> GOOD =
      Map.of(
          "/v1/chat/completions",
          object(
              """
              {"model":"smollm2-135m","messages":[{"role":"system","content":"s"},
               {"role":"user","content":[{"type":"text","text":"hello"}]}],"max_tokens":2,
               "temperature":0.5,"top_p":0.9,"stop":["x"],"n":1,"seed":3,"logprobs":true,
               "top_logprobs":1,"logit_bias":{"5":1},"stream":false,"tools":[{"type":"function",
               "function":{"name":"f","parameters":{"type":"object","properties":{"a":{}}}}}],
               "tool_choice":"auto","response_format":{"type":"text"},"metadata":{"a":"b"}}\
              """),
          "/v1/completions",
          object(
              """
              {"model":"smollm2-135m","prompt":["hello",[1,2]],"max_tokens":2,"echo":true,
               "logprobs":1,"stream":true,"stream_options":{"include_usage":true}}\
              """),
          "/v1/responses",
          object(
              """
              {"model":"smollm2-135m","input":[{"type":"message","role":"user","content":
               [{"type":"input_text","text":"hello"}]}],"max_output_tokens":2,"store":false,
               "text":{"format":{"type":"text"}},"tools":[{"type":"function","name":"f",
               "parameters":{"type":"object"}}],"tool_choice":"auto","stream":true,
               "include":["message.output_text.logprobs"],"reasoning":{"effort":"low"}}\
              """),
          "/v1/messages",
          object(
              """
              {"model":"smollm2-135m","max_tokens":2,"system":[{"type":"text","text":"s"}],
               "messages":[{"role":"user","content":[{"type":"text","text":"hello"}]}],
               "tools":[{"name":"f","input_schema":{"type":"object"}}],
               "tool_choice":{"type":"auto"},"stop_sequences":["x"],"stream":false}\
              """),
          "/v1/feedback",
          object(
              """
              {"target":{"response_id":"resp_x"},"name":"n","value":1,"comment":"c",
               "metadata":{"a":"b"}}\
              """));

  private final Served served;

  HostileBodiesIT(Served served) {
    this.served = served;
  }

  @Test
  void no_body_is_answered_with_a_failure_of_the_server() throws Exception {
    List<String> routes = GOOD.keySet().stream().sorted().toList();
    HostileBodies hostile = new HostileBodies(SEED);
    for (int i = 0; i < BODIES; i++) {
      String route = routes.get(i % routes.size());
      byte[] body = hostile.next(GOOD.get(route));
      HttpResponse<String> answer =
          served.a().http().send(served.post(route, body).build(), BodyHandlers.ofString());
      assertThat(answer.statusCode())
          .as("-DhostileSeed=%d, body %d: %s%n%s", SEED, i, new String(body), answer.body())
          .isBetween(200, 499);
      if (i % CONTROL_EVERY == 0) {
        served.control();
      }
    }
    served.control();
    Eventually.holds(
        Duration.ofSeconds(20), "nothing is left behind", () -> Figures.of(served.a()).idle());
  }
}
