package firstlight.app;

import static firstlight.app.Client.object;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Answer;
import firstlight.app.Client.Streamed;
import firstlight.gpu.cuda.CudaProbe;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The whole system as one command starts it: real services, real models, HTTP from outside. */
class OneCommandIT {
  private static FirstlightProcess process;
  private static Path data;
  private static URI address;
  private static Client client;

  @BeforeAll
  static void start() throws Exception {
    data = FirstlightProcess.freshFolder("one-command");
    process =
        FirstlightProcess.start(
            "up", "--config", "conf/test.yaml", "--port", "0", "--data", data.toString());
    address = process.address();
    client = new Client(address, "test-key-a");
  }

  @AfterAll
  static void stop() throws Exception {
    if (client != null) {
      client.close();
    }
    process.close();
  }

  private static ObjectNode chat(String text, int tokens) {
    ObjectNode body =
        object("{\"model\":\"smollm2-135m\",\"temperature\":0,\"messages\":[{\"role\":\"user\"}]}");
    ((ObjectNode) body.get("messages").get(0)).put("content", text);
    return body.put("max_tokens", tokens);
  }

  private static String content(Streamed streamed) {
    StringBuilder text = new StringBuilder();
    streamed
        .events()
        .forEach(event -> text.append(event.at("/choices/0/delta/content").asText("")));
    return text.toString();
  }

  @Test
  void the_control_request_is_answered_as_the_model_would() throws Exception {
    Answer answer = client.send("/v1/chat/completions", chat("hello", 1));
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.body().at("/usage/prompt_tokens").asInt()).isEqualTo(31);
    assertThat(answer.body().at("/usage/completion_tokens").asInt()).isEqualTo(1);
    assertThat(answer.body().at("/usage/total_tokens").asInt()).isEqualTo(32);
    assertThat(answer.body().at("/choices/0/finish_reason").asText()).isEqualTo("length");
    assertThat(answer.body().at("/choices/0/message/content").asText()).isEqualTo("Hello");
  }

  @Test
  void a_stream_says_what_the_plain_answer_says() throws Exception {
    ObjectNode body = chat("Count from 1 to 10.", 60);
    String plain =
        client.send("/v1/chat/completions", body).body().at("/choices/0/message/content").asText();
    body.put("stream", true).putObject("stream_options").put("include_usage", true);
    Streamed streamed = client.stream("/v1/chat/completions", body);
    assertThat(content(streamed)).isEqualTo(plain).startsWith("1. 1\n2. 2\n3. 3");
    assertThat(streamed.done()).isTrue();
    assertThat(streamed.events().getLast().at("/usage/prompt_tokens").asInt()).isEqualTo(39);
  }

  @Test
  void both_models_are_listed_and_a_base_model_has_completions_but_no_chat() throws Exception {
    JsonNode models = client.get("/v1/models").body();
    assertThat(models.at("/data").findValuesAsText("id"))
        .containsExactly("smollm2-135m", "gemma3-270m");
    Answer completion =
        client.send(
            "/v1/completions",
            object(
                """
                {"model":"gemma3-270m","prompt":"The capital of France is","max_tokens":4,
                 "temperature":0,"return_token_ids":true}\
                """));
    assertThat(completion.status()).isEqualTo(200);
    assertThat(completion.body().at("/usage/prompt_tokens").asInt()).isEqualTo(6);
    assertThat(completion.body().at("/choices/0/token_ids").size()).isEqualTo(4);
    Answer refused =
        client.send("/v1/chat/completions", chat("hello", 1).put("model", "gemma3-270m"));
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.body().at("/error/message").asText()).contains("template");
  }

  @Test
  void a_node_without_a_gpu_says_why_it_uses_the_cpu_device() {
    assumeThat(CudaProbe.probe()).isInstanceOf(CudaProbe.Absent.class);
    assertThat(process.output().lines())
        .filteredOn(line -> line.contains("the cpu device is used"))
        .singleElement(InstanceOfAssertFactories.STRING)
        .endsWith("the cpu device is used: " + ((CudaProbe.Absent) CudaProbe.probe()).reason());
  }

  @Test
  void nobody_gets_in_without_a_key() throws Exception {
    try (Client stranger = new Client(address, "");
        Client wrong = new Client(address, "test-key-c")) {
      for (Client outside : List.of(stranger, wrong)) {
        assertThat(outside.send("/v1/chat/completions", chat("hello", 1)).status()).isEqualTo(401);
        assertThat(outside.get("/v1/models").status()).isEqualTo(401);
        assertThat(outside.get("/v1/responses/resp_x").status()).isEqualTo(401);
      }
    }
  }

  @Test
  void a_conversation_goes_on_by_the_previous_response_and_is_its_tenants_own() throws Exception {
    Answer first =
        client.send(
            "/v1/responses",
            object(
                """
                {"model":"smollm2-135m","input":"My name is Ada.","max_output_tokens":20,
                 "temperature":0}\
                """));
    assertThat(first.status()).isEqualTo(200);
    String id = first.body().get("id").asText();
    ObjectNode follow =
        object(
            """
            {"model":"smollm2-135m","input":"What is my name?","max_output_tokens":20,
             "temperature":0}\
            """);
    follow.put("previous_response_id", id);
    Answer second = client.send("/v1/responses", follow);
    assertThat(second.status()).isEqualTo(200);
    assertThat(second.body().get("previous_response_id").asText()).isEqualTo(id);
    assertThat(second.body().at("/usage/input_tokens").asInt())
        .isGreaterThan(
            first.body().at("/usage/input_tokens").asInt()
                + first.body().at("/usage/output_tokens").asInt());
    assertThat(client.get("/v1/responses/" + id).body()).isEqualTo(first.body());
    try (Client other = new Client(address, "test-key-b")) {
      assertThat(other.send("/v1/responses", follow).status()).isIn(400, 404);
      assertThat(other.get("/v1/responses/" + id).status()).isEqualTo(404);
    }
  }

  @Test
  void responses_build_on_a_conversation_and_add_to_it_also_at_once() throws Exception {
    ObjectNode first = object("{\"items\":[{\"role\":\"user\",\"content\":\"My name is Ada.\"}]}");
    String id = client.send("/v1/conversations", first).body().get("id").asText();
    ObjectNode body =
        object(
            """
            {"model":"smollm2-135m","input":"What is my name?","max_output_tokens":8,
             "temperature":0}\
            """);
    int alone = client.send("/v1/responses", body).body().at("/usage/input_tokens").asInt();
    body.put("conversation", id);
    List<CompletableFuture<Answer>> crowd = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      crowd.add(client.sendLater("/v1/responses", body));
    }
    List<String> answered = new ArrayList<>();
    for (CompletableFuture<Answer> one : crowd) {
      Answer answer = one.get();
      assertThat(answer.status()).as("%s", answer.body()).isEqualTo(200);
      assertThat(answer.body().at("/conversation/id").asText()).isEqualTo(id);
      assertThat(answer.body().at("/usage/input_tokens").asInt()).isGreaterThan(alone);
      answered.add(answer.body().at("/output/0/id").asText());
    }
    JsonNode items =
        client.get("/v1/conversations/%s/items?order=asc".formatted(id)).body().get("data");
    assertThat(items.findValuesAsText("role"))
        .containsExactly(
            "user",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant");
    assertThat(items.findValuesAsText("id")).doesNotHaveDuplicates().containsAll(answered);
    try (Client other = new Client(address, "test-key-b")) {
      assertThat(other.send("/v1/responses", body).status()).isEqualTo(404);
    }
  }

  @Test
  void a_response_in_the_background_is_read_while_it_runs_and_again_afterwards() throws Exception {
    ObjectNode body =
        object(
            """
            {"model":"smollm2-135m","input":"Tell a long story.","max_output_tokens":100,
             "temperature":0,"background":true}\
            """);
    Answer queued = client.send("/v1/responses", body);
    assertThat(queued.body().get("status").asText()).isEqualTo("queued");
    String path = "/v1/responses/" + queued.body().get("id").asText();

    String live = client.text(path + "?stream=true");

    assertThat(client.get(path).body().get("status").asText()).isEqualTo("incomplete");
    assertThat(live).startsWith("event: response.created\n").endsWith("data: [DONE]\n\n");
    assertThat(client.text(path + "?stream=true")).isEqualTo(live);
  }

  @Test
  void many_streams_at_once_say_what_each_says_alone() throws Exception {
    List<ObjectNode> bodies = new ArrayList<>();
    for (int i = 0; i < 32; i++) {
      ObjectNode body =
          object("{\"model\":\"smollm2-135m\",\"stream\":true,\"return_token_ids\":true}");
      body.put("prompt", "Story number %d:%s".formatted(i, " and then".repeat(i * 5 % 70)));
      body.put("max_tokens", 8 + i * 7 % 33).put("temperature", i % 2).put("seed", i);
      bodies.add(body);
    }
    List<List<Integer>> alone = new ArrayList<>();
    for (ObjectNode body : bodies) {
      alone.add(tokens(client.stream("/v1/completions", body)));
    }
    List<CompletableFuture<Streamed>> crowd =
        bodies.stream().map(body -> client.streamLater("/v1/completions", body)).toList();
    for (int i = 0; i < crowd.size(); i++) {
      assertThat(tokens(crowd.get(i).get()))
          .as("stream %d", i)
          .isEqualTo(alone.get(i))
          .isNotEmpty();
    }
  }

  private static List<Integer> tokens(Streamed streamed) {
    List<Integer> tokens = new ArrayList<>();
    assertThat(streamed.status()).isEqualTo(200);
    for (JsonNode event : streamed.events()) {
      event.at("/choices/0/token_ids").forEach(id -> tokens.add(id.asInt()));
    }
    return tokens;
  }

  @Test
  void health_and_metrics_are_there() throws Exception {
    assertThat(client.get("/health/live").status()).isEqualTo(200);
    assertThat(client.get("/health/ready").status()).isEqualTo(200);
    client.send("/v1/chat/completions", chat("hello", 1));
    assertThat(client.text("/metrics"))
        .contains("vllm:num_requests_waiting", "vllm:kv_cache_usage_perc")
        .contains("vllm:time_to_first_token_seconds", "vllm:inter_token_latency_seconds")
        .contains("vllm:prompt_tokens_total", "vllm:generation_tokens_total")
        .contains("vllm:prefix_cache_hits_total");
  }
}
