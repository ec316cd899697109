package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import firstlight.protocol.FailureKind;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Goal: what cannot be served is refused by name, at once. Cases B15–B17, B21, B44, B55, B83–85.
 */
class RefusalsHttpTest {
  private static EdgeFixture edge;

  @BeforeAll
  static void start() throws Exception {
    edge = new EdgeFixture("").saying("fine");
  }

  @AfterAll
  static void stop() throws Exception {
    edge.close();
  }

  private static void isRefused(EdgeFixture.Answer answer, int status, String param)
      throws Exception {
    assertThat(answer.status()).as(answer.http().body()).isEqualTo(status);
    JsonNode error = answer.json().get("error");
    assertThat(error.get("param").asText()).isEqualTo(param);
    assertThat(error.get("type").asText()).isEqualTo("invalid_request_error");
    assertThat(error.has("code")).isTrue();
    assertThat(answer.http().body())
        .doesNotContain("java.", "Exception", "/home/", "firstlight.edge", "jackson");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          "n":0 | n
          "n":-1 | n
          "n":1000000 | n
          "n":true | n
          "n":"2" | n
          "n":1.5 | n
          "max_tokens":0 | max_tokens
          "max_tokens":-1 | max_tokens
          "max_tokens":1e30 | max_tokens
          "max_tokens":"5" | max_tokens
          "temperature":-1 | temperature
          "temperature":"NaN" | temperature
          "temperature":"hot" | temperature
          "temperature":1e400 | temperature
          "top_p":0 | top_p
          "top_p":1.5 | top_p
          "top_k":-5 | top_k
          "min_p":2 | min_p
          "frequency_penalty":1e9 | frequency_penalty
          "repetition_penalty":0 | repetition_penalty
          "logprobs":1000 | logprobs
          "logprobs":true | logprobs
          "seed":1.5 | seed
          "stream":"true" | stream
          "stream_options":{"include_usage":true} | stream_options
          "stop":"" | stop
          "stop":[""] | stop
          "stop":["a",""] | stop
          "stop":[1] | stop
          "stop":[null] | stop
          "stop":{"x":1} | stop
          "stop":["\\ud83d"] | stop[0]
          "echo":"yes" | echo
          "echo":true,"logprobs":1 | echo
          "best_of":3 | best_of
          "logit_bias":{"260":5} | logit_bias
          "logit_bias":{"-1":5} | logit_bias
          "logit_bias":{"999999999999":5} | logit_bias
          "logit_bias":{"1.5":5} | logit_bias
          "logit_bias":{"abc":5} | logit_bias
          "logit_bias":{"":5} | logit_bias
          "logit_bias":{"1":1e308} | logit_bias
          "logit_bias":{"1":null} | logit_bias
          "logit_bias":{"1":"5"} | logit_bias
          "logit_bias":[] | logit_bias
          "max_tokens":5,"max_tokens":100000 | max_tokens
          """)
  void a_wrong_value_is_refused_by_the_name_of_its_field(String field, String param)
      throws Exception {
    isRefused(edge.completion("\"prompt\":\"x\"," + field), 400, param);
    if (!field.contains("stream")) {
      isRefused(edge.completion("\"prompt\":\"x\",\"stream\":true," + field), 400, param);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "[[]]",
        "[260]",
        "[-1]",
        "[1.5]",
        "\"\"",
        "{}",
        "7",
        "[\"a\",[1]]x",
        "[\"a\",1]",
        "[[1],\"a\",true]",
        "\"x \\ude00 y\""
      })
  void a_wrong_prompt_is_refused(String prompt) throws Exception {
    EdgeFixture.Answer answer = edge.completion("\"prompt\":" + prompt);

    assertThat(answer.status()).as(answer.http().body()).isEqualTo(400);
  }

  @Test
  void many_prompts_many_biases_many_stops_and_long_stops_have_limits() throws Exception {
    String prompts = "[" + "\"a\",".repeat(99_999) + "\"a\"]";
    isRefused(edge.completion("\"prompt\":" + prompts), 400, "prompt");
    StringBuilder biases = new StringBuilder("{\"0\":1");
    for (int i = 1; i < 60_000; i++) {
      biases.append(",\"").append(i).append("\":1");
    }
    isRefused(
        edge.completion("\"prompt\":\"x\",\"logit_bias\":" + biases + "}"), 400, "logit_bias");
    String stops = "[" + "\"x\",".repeat(9_999) + "\"x\"]";
    isRefused(edge.completion("\"prompt\":\"x\",\"stop\":" + stops), 400, "stop");
    isRefused(
        edge.completion("\"prompt\":\"x\",\"stop\":\"" + "s".repeat(5_000) + "\""), 400, "stop");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"stop\":[]",
        "\"stop\":null",
        "\"n\":null",
        "\"max_tokens\":null",
        "\"temperature\":null",
        "\"temperature\":1e-45",
        "\"temperature\":1e-300",
        "\"top_p\":1e-9",
        "\"top_p\":1e-300",
        "\"top_k\":-1",
        "\"min_p\":1.0",
        "\"temperature\":2.0",
        "\"logit_bias\":{\"2\":-100}",
        "\"seed\":-5",
        "\"repetition_penalty\":1e-300",
        "\"stream_options\":null"
      })
  void null_is_the_default_and_what_is_small_but_valid_is_served(String field) throws Exception {
    EdgeFixture.Answer answer = edge.completion("\"prompt\":\"x\"," + field);

    assertThat(answer.status()).as(answer.http().body()).isEqualTo(200);
    assertThat(answer.json().at("/choices/0/text").asText()).isEqualTo("fine");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "nope",
        "../../etc/passwd",
        "/etc/passwd",
        "bytes/../base",
        "bytes%00",
        "BYTES",
        " bytes",
        "x\\u2028y",
        "\\u202egnp",
        "model=x/date=2020-01-01",
        "a\\\"b"
      })
  void an_unknown_model_is_not_found_and_its_name_is_shown_safely(String model) throws Exception {
    EdgeFixture.Answer answer =
        edge.post("/v1/completions", "{\"model\":\"" + model + "\",\"prompt\":\"x\"}");

    isRefused(answer, 404, "model");
    assertThat(answer.json().at("/error/code").asText()).isEqualTo("model_not_found");
    assertThat(answer.http().body()).doesNotContain("\u2028", "\u202e");
  }

  @Test
  void a_model_of_the_wrong_type_or_of_enormous_length_is_refused() throws Exception {
    isRefused(edge.post("/v1/completions", "{\"prompt\":\"x\"}"), 400, "model");
    isRefused(edge.post("/v1/completions", "{\"model\":{\"a\":1},\"prompt\":\"x\"}"), 400, "model");
    EdgeFixture.Answer enormous =
        edge.post("/v1/completions", "{\"model\":\"" + "a".repeat(10_000) + "\",\"prompt\":\"x\"}");
    isRefused(enormous, 404, "model");
    assertThat(enormous.http().body().length()).isLessThan(400);
  }

  @Test
  void other_content_types_and_encodings_are_refused() throws Exception {
    String body = "{\"model\":\"bytes\",\"prompt\":\"x\"}";
    for (String[] header :
        new String[][] {
          {"Content-Type", "text/plain"},
          {"Content-Type", "application/x-www-form-urlencoded"},
          {"Content-Encoding", "gzip"},
          {"Content-Encoding", "gzip, gzip"},
          {"Content-Encoding", "zstd"}
        }) {
      HttpRequest.Builder request =
          edge.request("/v1/completions").header("Authorization", "Bearer " + EdgeFixture.KEY);
      if (header[0].equals("Content-Encoding")) {
        request.header("Content-Type", "application/json");
      }
      HttpRequest built =
          request
              .header(header[0], header[1])
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build();
      assertThat(edge.send(built).status()).as(header[1]).isEqualTo(415);
    }
  }

  @Test
  void a_body_over_the_limit_is_refused_and_the_next_request_is_served() throws Exception {
    EdgeFixture.Answer large = edge.completion("\"prompt\":\"" + "x".repeat((16 << 20) + 1) + "\"");
    assertThat(large.status()).isEqualTo(413);

    assertThat(edge.completion("\"prompt\":\"x\"").status()).isEqualTo(200);
  }

  @Test
  void fields_that_have_no_effect_are_accepted_and_listed() throws Exception {
    EdgeFixture.Answer answer =
        edge.completion(
            "\"prompt\":\"x\",\"user\":\"u\",\"frobnicate\":{\"a\":1},\"we\\u2028ird\":1");

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.header(IgnoredFields.HEADER)).isEqualTo("user, frobnicate, we?ird");
    String vllm = "\"min_tokens\":9,\"stop_token_ids\":[1],\"allowed_token_ids\":[2]";
    assertThat(edge.chat("," + vllm).header(IgnoredFields.HEADER))
        .isEqualTo("min_tokens, stop_token_ids, allowed_token_ids");
    assertThat(edge.completion("\"prompt\":\"x\"," + vllm).header(IgnoredFields.HEADER))
        .isEqualTo("min_tokens, stop_token_ids, allowed_token_ids");
  }

  /** Longer than any pause of a busy machine, and far below the longest silence of a stream. */
  @ParameterizedTest
  @CsvSource({
    "/v1/chat/completions, OVERLOADED, 503",
    "/v1/completions, TENANT_LIMIT, 429",
    "/v1/responses, OVERLOADED, 503"
  })
  void a_stream_that_is_refused_late_gets_a_status(String path, FailureKind kind, int status)
      throws Exception {
    edge.replica.forget();
    edge.replica.answering(_ -> null);
    String asked = path.endsWith("chat/completions") ? "messages" : "prompt";
    asked = path.endsWith("responses") ? "input" : asked;
    String value = asked.equals("messages") ? "[{\"role\":\"user\",\"content\":\"x\"}]" : "\"x\"";
    String body = "{\"model\":\"bytes\",\"stream\":true,\"%s\":%s}".formatted(asked, value);
    CompletableFuture<HttpResponse<String>> coming =
        edge.client.sendAsync(edge.postRequest(path, body), HttpResponse.BodyHandlers.ofString());
    String generation = edge.replica.nextSubmit().getGeneration();

    edge.vertx.setTimer(
        800, _ -> edge.replica.refuse(generation, kind, "too_late", "Late.", 2_500));

    HttpResponse<String> answer = coming.get(10, TimeUnit.SECONDS);
    edge.saying("fine");
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Retry-After")).contains("3");
    assertThat(answer.headers().firstValue("retry-after-ms")).contains("2500");
  }

  @Test
  void a_model_without_a_template_has_no_chat_but_completions() throws Exception {
    EdgeFixture.Answer chat =
        edge.post(
            "/v1/chat/completions",
            "{\"model\":\"base\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}");

    isRefused(chat, 400, "model");
    assertThat(chat.json().at("/error/message").asText()).contains("no chat template");
    EdgeFixture.Answer completion =
        edge.post("/v1/completions", "{\"model\":\"base\",\"prompt\":\"x\"}");
    assertThat(completion.json().at("/choices/0/text").asText()).isEqualTo("ok");
  }

  @Test
  void megabytes_of_prose_do_not_stop_the_event_loop() throws Exception {
    String prose = "{\"model\":\"bytes\",\"prompt\":\"" + "word ".repeat(1_000_000) + "\"}";
    CompletableFuture<?>[] large = new CompletableFuture<?>[8];
    for (int i = 0; i < large.length; i++) {
      large[i] =
          edge.client
              .sendAsync(
                  edge.postRequest("/v1/completions", prose), HttpResponse.BodyHandlers.ofString())
              .thenAccept(
                  answer -> assertThat(answer.body()).contains("more than 4000000 characters"));
    }
    long worst = 0;
    while (!CompletableFuture.allOf(large).isDone()) {
      long before = System.nanoTime();
      assertThat(edge.get("/health/live").status()).isEqualTo(200);
      worst = Math.max(worst, System.nanoTime() - before);
    }

    CompletableFuture.allOf(large).get(10, TimeUnit.SECONDS);
    // On an idle machine it is a few milliseconds; this one may be busy.
    assertThat(TimeUnit.NANOSECONDS.toMillis(worst)).isLessThan(2_000);
  }
}
