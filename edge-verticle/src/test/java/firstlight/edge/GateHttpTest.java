package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Goal: what every request passes. Cases B53, B69 and the operator's routes. */
class GateHttpTest {
  private static EdgeFixture edge;

  @BeforeAll
  static void start() throws Exception {
    edge = new EdgeFixture("corsOrigins: ['https://app.example']\n").saying("hello");
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  private static HttpRequest.Builder bare(String method, String path) {
    HttpRequest.BodyPublisher body =
        method.equals("POST")
            ? HttpRequest.BodyPublishers.ofString("{}")
            : HttpRequest.BodyPublishers.noBody();
    return edge.request(path).method(method, body);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "POST /v1/chat/completions",
        "POST /v1/completions",
        "POST /v1/responses",
        "GET /v1/responses",
        "GET /v1/responses/resp_1",
        "DELETE /v1/responses/resp_1",
        "POST /v1/responses/resp_1/cancel",
        "POST /v1/conversations",
        "GET /v1/conversations/conv_1/items",
        "POST /v1/messages",
        "POST /v1/messages/count_tokens",
        "GET /v1/models",
        "POST /v1/embeddings",
        "POST /v1/feedback",
        "POST /feedback",
        "POST /api/public/scores",
        "POST /tokenize",
        "GET /admin",
        "GET /health/secret",
        "GET /",
        "POST //v1/chat/completions",
        "POST /v1//chat/completions",
        "POST /V1/chat/completions",
        "POST /v1/chat/completions/",
        "POST /v1/%63hat/completions",
        "POST /x/../v1/chat/completions",
        "POST /v1/chat/completions;a=b",
        "POST /health/../v1/chat/completions",
        "POST /metrics/../v1/chat/completions",
        "POST /v1/chat/completions?api_key=test-key-a"
      })
  void without_a_good_key_nothing_but_health_and_metrics_is_there(String route) throws Exception {
    String method = route.substring(0, route.indexOf(' '));
    String path = route.substring(route.indexOf(' ') + 1);
    for (String header : List.of("", "Bearer wrong", "Bearer ", "Basic dGVzdC1rZXktYQ==")) {
      HttpRequest.Builder request = bare(method, path);
      if (!header.isEmpty()) {
        request.header("Authorization", header);
      }
      EdgeFixture.Answer answer = edge.send(request.build());
      assertThat(answer.status()).as(route + " " + header).isEqualTo(401);
      boolean anthropic = path.startsWith("/v1/messages");
      assertThat(answer.json().at(anthropic ? "/error/type" : "/error/code").asText())
          .isEqualTo(anthropic ? "authentication_error" : "invalid_api_key");
      assertThat(answer.header("www-authenticate")).isEqualTo("Bearer");
    }
    EdgeFixture.Answer twice =
        edge.send(
            bare(method, path)
                .header("Authorization", "Bearer " + EdgeFixture.KEY)
                .header("Authorization", "Bearer " + EdgeFixture.KEY)
                .build());
    assertThat(twice.status()).isEqualTo(401);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "//v1/models",
        "/v1//models",
        "/V1/models",
        "/v1/models/",
        "/v1/%6dodels",
        "/v1/models;a=b"
      })
  void a_path_that_needs_tidying_is_no_route_even_with_a_key(String path) throws Exception {
    assertThat(edge.get(path).status()).isEqualTo(404);
  }

  @Test
  void what_is_not_there_is_told_with_what_is() throws Exception {
    EdgeFixture.Answer answer = edge.post("/v1/embeddings", "{}");

    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.json().at("/error/message").asText())
        .contains("/v1/chat/completions", "/v1/models", "/v1/conversations");
    assertThat(edge.get("/v1/chat/completions").status()).isEqualTo(405);
  }

  @Test
  void models_are_listed_and_found() throws Exception {
    JsonNode list = edge.get("/v1/models").json();

    assertThat(list.get("object").asText()).isEqualTo("list");
    assertThat(list.at("/data/0/id").asText()).isEqualTo("bytes");
    assertThat(list.get("data")).hasSize(2);
    assertThat(edge.get("/v1/models/base").json().get("object").asText()).isEqualTo("model");
    assertThat(edge.get("/v1/models/nope").json().at("/error/code").asText())
        .isEqualTo("model_not_found");
  }

  @Test
  void a_safe_request_id_is_kept_and_another_is_replaced() throws Exception {
    HttpRequest.Builder request = edge.request("/health/live");
    assertThat(edge.send(request.header(Gate.REQUEST_ID, "mine-1").build()).header(Gate.REQUEST_ID))
        .isEqualTo("mine-1");
    for (String unsafe : List.of("a b", "x".repeat(129), "<script>")) {
      EdgeFixture.Answer answer =
          edge.send(edge.request("/health/live").header(Gate.REQUEST_ID, unsafe).build());
      assertThat(answer.header(Gate.REQUEST_ID)).startsWith("req_");
    }
  }

  @Test
  void health_needs_no_key_and_knows_the_replicas() throws Exception {
    assertThat(edge.send(edge.request("/health").build()).status()).isEqualTo(200);
    EdgeFixture.Answer ready = edge.send(edge.request("/health/ready").build());
    assertThat(ready.status()).isEqualTo(200);
    assertThat(ready.json().at("/models/bytes").asText()).isEqualTo("ready");
  }

  @Test
  void a_page_of_an_allowed_origin_may_ask_without_a_key_what_it_may_do() throws Exception {
    HttpRequest preflight =
        edge.request("/v1/chat/completions")
            .method("OPTIONS", HttpRequest.BodyPublishers.noBody())
            .header("Origin", "https://app.example")
            .header("Access-Control-Request-Method", "POST")
            .build();

    EdgeFixture.Answer answer = edge.send(preflight);

    assertThat(answer.header("access-control-allow-origin")).isEqualTo("https://app.example");
    assertThat(answer.status()).isLessThan(300);
  }

  @Test
  void unknown_models_make_no_series_and_every_request_is_counted_once() throws Exception {
    double before = edge.metric("firstlight_requests_total");
    edge.completion("\"prompt\":\"x\"");
    edge.completion("\"prompt\":\"x\",\"stream\":true");
    for (int i = 0; i < 20; i++) {
      edge.post("/v1/completions", "{\"model\":\"u" + i + "\\\"{x}\",\"prompt\":\"x\"}");
    }

    assertThat(edge.metric("firstlight_requests_total") - before).isEqualTo(22);
    String scrape = edge.get("/metrics").http().body();
    assertThat(scrape)
        .contains(
            "vllm:time_to_first_token_seconds_count{model_name=\"bytes\"}",
            "vllm:e2e_request_latency_seconds_bucket",
            "vllm:inter_token_latency_seconds_sum",
            "vllm:prompt_tokens_total{model_name=\"bytes\"}",
            "vllm:generation_tokens_total",
            "vllm:request_success_total{finished_reason=\"stop\",model_name=\"bytes\"}",
            "firstlight_errors_total",
            "firstlight_http_requests_total{route=\"/v1/completions\",status=\"404\"} 20",
            "firstlight_edge_requests_running 0",
            "firstlight_edge_generations 0",
            "firstlight_edge_replicas 2",
            "firstlight_edge_placements_total{replica=\"r1\"}",
            "model_name=\"unknown\"")
        .doesNotContain("u1\\");
  }

  @Test
  void http2_without_tls_is_spoken_too() throws Exception {
    try (HttpClient http2 = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + edge.port() + "/v1/completions"))
              .header("Authorization", "Bearer " + EdgeFixture.KEY)
              .header("Content-Type", "application/json")
              .POST(
                  HttpRequest.BodyPublishers.ofString(
                      "{\"model\":\"bytes\",\"prompt\":\"x\",\"stream\":true}"))
              .build();
      var answer = http2.send(request, java.net.http.HttpResponse.BodyHandlers.ofString());

      assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
      assertThat(answer.body()).endsWith("data: [DONE]\n\n");
    }
  }
}
