package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.wire.Submit;
import io.micrometer.core.instrument.Timer;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Goal: whoever waits for a replica that is lost sees a pause, and then the rest of the answer from
 * another one.
 */
class LostReplicaTest {
  private EdgeFixture edge;

  private void start(String yaml) throws Exception {
    edge = new EdgeFixture(yaml);
  }

  @AfterEach
  void stop() throws Exception {
    edge.close();
  }

  private CompletableFuture<HttpResponse<String>> begun(String more) {
    return edge.client.sendAsync(
        edge.postRequest("/v1/completions", "{\"model\":\"bytes\",\"prompt\":\"x\"" + more + "}"),
        HttpResponse.BodyHandlers.ofString());
  }

  private static JsonNode json(CompletableFuture<HttpResponse<String>> answer) throws Exception {
    HttpResponse<String> whole = answer.get(10, TimeUnit.SECONDS);
    assertThat(whole.statusCode()).as(whole.body()).isEqualTo(200);
    return new ObjectMapper().readTree(whole.body());
  }

  private FakeReplica other(int... tokens) throws Exception {
    return new FakeReplica(edge.vertx, "r9", EdgeFixture.MODEL).answering(_ -> tokens).start();
  }

  private static String texts(String stream) {
    return Pattern.compile("\"text\":\"([^\"]*)\"")
        .matcher(stream)
        .results()
        .map(result -> result.group(1))
        .collect(Collectors.joining());
  }

  @Test
  void the_rest_comes_from_another_replica_whether_it_has_begun_or_not() throws Exception {
    start("");
    CompletableFuture<HttpResponse<String>> stream = begun(",\"stream\":true,\"seed\":5");
    Submit submit = edge.replica.nextSubmit();
    edge.replica.emit(submit.getGeneration(), 'a');
    edge.replica.emit(submit.getGeneration(), 'b');
    CompletableFuture<HttpResponse<String>> unbegun = begun("");
    edge.replica.nextSubmit();
    FakeReplica other = other('a', 'b', 'c', 'd', ByteTokenizer.END);

    edge.replica.stop();

    String events = stream.get(10, TimeUnit.SECONDS).body();
    assertThat(texts(events)).isEqualTo("abcd");
    assertThat(events).contains("[DONE]").doesNotContain("error");
    assertThat(json(unbegun).at("/choices/0/text").asText()).isEqualTo("abcd");
    Submit rest = other.nextSubmit();
    Submit whole = other.nextSubmit();
    if (rest.getKnownCount() == 0) {
      Submit swap = rest;
      rest = whole;
      whole = swap;
    }
    assertThat(rest.getMoved()).isTrue();
    assertThat(rest.getGeneration()).isNotEqualTo(submit.getGeneration());
    assertThat(rest.getKnownList()).containsExactly((int) 'a', (int) 'b');
    assertThat(rest.getCredit()).isLessThanOrEqualTo(submit.getCredit());
    Submit same =
        submit.toBuilder()
            .setGeneration(rest.getGeneration())
            .addAllKnown(rest.getKnownList())
            .setCredit(rest.getCredit())
            .setMoved(true)
            .build();
    assertThat(rest).isEqualTo(same);
    assertThat(whole.getMoved()).isTrue();
    assertThat(edge.meters.get("firstlight.edge.moves").counter().count()).isEqualTo(2);
    assertThat(edge.meters.get("firstlight.edge.move.pause").timer().count()).isEqualTo(2);
  }

  @Test
  void usage_is_that_of_an_answer_without_a_loss() throws Exception {
    start("");
    edge.replica.cached(1);
    CompletableFuture<HttpResponse<String>> answer = begun("");
    Submit submit = edge.replica.nextSubmit();
    edge.replica.emit(submit.getGeneration(), 'a');
    Waiting.until(() -> edge.meters.find("vllm:time_to_first_token").timer() != null);
    other('a', 'b', ByteTokenizer.END).cached(0);

    edge.replica.stop();

    JsonNode usage = json(answer).at("/usage");
    assertThat(usage.at("/prompt_tokens").asInt()).isEqualTo(submit.getPromptCount());
    assertThat(usage.at("/prompt_tokens_details/cached_tokens").asInt()).isEqualTo(1);
    assertThat(usage.at("/completion_tokens").asInt()).isEqualTo(3);
  }

  @Test
  void every_answer_of_a_request_goes_on_from_its_own_tokens() throws Exception {
    start("");
    CompletableFuture<HttpResponse<String>> answer = begun(",\"n\":2,\"logprobs\":1");
    Submit first = edge.replica.nextSubmit();
    Submit second = edge.replica.nextSubmit();
    edge.replica.emit(first.getGeneration(), 'a');
    edge.replica.emit(second.getGeneration(), 'p');
    edge.replica.emit(second.getGeneration(), 'q');
    edge.replica.end(second.getGeneration(), FinishReason.LENGTH);
    Waiting.until(() -> answered(2));
    other('a', 'b', ByteTokenizer.END);

    edge.replica.stop();

    JsonNode choices = json(answer).at("/choices");
    assertThat(choices.at("/0/text").asText()).isEqualTo("ab");
    assertThat(choices.at("/0/logprobs/tokens")).hasSizeGreaterThanOrEqualTo(2);
    assertThat(choices.at("/1/text").asText()).isEqualTo("pq");
  }

  /** Whether so many pieces of answers came after each one's first. */
  private boolean answered(int pieces) {
    Timer between = edge.meters.find("vllm:inter_token_latency").timer();
    Timer first = edge.meters.find("vllm:request_queue_time").timer();
    return between != null && first != null && first.count() + between.count() > pieces;
  }

  @Test
  void of_an_answer_that_only_lacks_its_ending_the_other_says_how_it_ended() throws Exception {
    start("");
    CompletableFuture<HttpResponse<String>> answer = begun(",\"max_tokens\":2");
    Submit submit = edge.replica.nextSubmit();
    edge.replica.emit(submit.getGeneration(), 'a');
    edge.replica.emit(submit.getGeneration(), 'b');
    Waiting.until(() -> answered(1));
    FakeReplica other = other('a', 'b', 'c');

    edge.replica.stop();

    JsonNode body = json(answer);
    assertThat(body.at("/choices/0/text").asText()).isEqualTo("ab");
    assertThat(body.at("/choices/0/finish_reason").asText()).isEqualTo("length");
    assertThat(other.nextSubmit().getKnownCount()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({
    "DEVICE_LOST, device_lost, 200",
    "UNAVAILABLE, replica_stopping, 200",
    "UNAVAILABLE, no_device, 200",
    "OVERLOADED, overloaded, 503",
    "INTERNAL, internal, 500"
  })
  void a_replica_that_can_not_go_on_is_left_and_one_that_does_not_want_to_is_believed(
      FailureKind kind, String code, int status) throws Exception {
    start("");
    CompletableFuture<HttpResponse<String>> answer = begun("");
    Submit submit = edge.replica.nextSubmit();
    other('z', ByteTokenizer.END);

    edge.replica.refuse(submit.getGeneration(), kind, code, "No.", 0);

    assertThat(answer.get(10, TimeUnit.SECONDS).statusCode()).isEqualTo(status);
  }

  @Test
  void the_same_replica_goes_on_when_it_is_there_again() throws Exception {
    start("");
    CompletableFuture<HttpResponse<String>> answer = begun("");
    Submit submit = edge.replica.nextSubmit();
    edge.replica.emit(submit.getGeneration(), 'a');
    edge.replica.refuse(
        submit.getGeneration(), FailureKind.DEVICE_LOST, "device_lost", "It is gone.", 0);
    Submit again = edge.replica.nextSubmit();
    assertThat(again.getKnownList()).containsExactly((int) 'a');
    edge.replica.emit(again.getGeneration(), 'b');
    edge.replica.end(again.getGeneration(), FinishReason.END);
    assertThat(json(answer).at("/choices/0/text").asText()).isEqualTo("ab");
  }

  @Test
  void one_that_was_at_work_waits_for_room_where_another_is_sent_away() throws Exception {
    start("limits: {movesMax: 1}");
    CompletableFuture<HttpResponse<String>> answer = begun("");
    Submit first = edge.replica.nextSubmit();
    edge.replica.emit(first.getGeneration(), 'a');
    edge.replica.refuse(first.getGeneration(), FailureKind.DEVICE_LOST, "device_lost", "Gone.", 0);
    for (int attempt = 0; attempt < 3; attempt++) {
      Submit again = edge.replica.nextSubmit();
      edge.replica.refuse(again.getGeneration(), FailureKind.OVERLOADED, "overloaded", "Full.", 9);
    }
    Submit last = edge.replica.nextSubmit();
    edge.replica.emit(last.getGeneration(), 'b');
    edge.replica.end(last.getGeneration(), FinishReason.END);
    assertThat(json(answer).at("/choices/0/text").asText()).isEqualTo("ab");
    assertThat(edge.meters.get("firstlight.edge.moves").counter().count()).isEqualTo(1);
  }

  @Test
  void a_generation_that_loses_one_replica_after_another_fails_with_the_last_ones_words()
      throws Exception {
    start("limits: {movesMax: 2}");
    CompletableFuture<HttpResponse<String>> answer = begun("");
    for (int move = 0; move <= 2; move++) {
      Submit submit = edge.replica.nextSubmit();
      edge.replica.refuse(
          submit.getGeneration(), FailureKind.DEVICE_LOST, "device_lost", "Gone " + move, 5_000);
    }
    HttpResponse<String> failed = answer.get(10, TimeUnit.SECONDS);
    assertThat(failed.statusCode()).isEqualTo(503);
    assertThat(failed.body()).contains("device_lost", "Gone 2");
    assertThat(failed.headers().firstValue("retry-after")).contains("5");
    assertThat(edge.eventWith("failed").getErrorCode()).isEqualTo("device_lost");
  }

  @Test
  void a_stream_that_finds_no_replica_in_time_ends_with_an_error() throws Exception {
    start("times: {moveTimeout: 200ms}");
    CompletableFuture<HttpResponse<String>> stream = begun(",\"stream\":true");
    Submit submit = edge.replica.nextSubmit();
    edge.replica.emit(submit.getGeneration(), 'a');

    edge.replica.stop();

    assertThat(stream.get(10, TimeUnit.SECONDS).body())
        .contains("\"text\":\"a\"", "data: {\"error\":{", "replica_lost")
        .doesNotContain("[DONE]");
    assertThat(edge.eventWith("failed").getErrorCode()).isEqualTo("replica_lost");
  }

  @Test
  void a_client_that_set_a_time_for_its_first_token_waits_no_longer_but_for_one_that_began()
      throws Exception {
    start("");
    CompletableFuture<HttpResponse<String>> begun = within500("");
    Submit first = edge.replica.nextSubmit();
    edge.replica.emit(first.getGeneration(), 'a');
    CompletableFuture<HttpResponse<String>> waiting = within500(",\"seed\":1");
    edge.replica.nextSubmit();
    Waiting.until(() -> edge.meters.find("vllm:time_to_first_token").timer() != null);

    edge.replica.stop();

    HttpResponse<String> refused = waiting.get(10, TimeUnit.SECONDS);
    assertThat(refused.statusCode()).isEqualTo(503);
    assertThat(refused.body()).contains("replica_lost");
    assertThat(begun).isNotDone();
    other('a', 'b', ByteTokenizer.END);
    assertThat(json(begun).at("/choices/0/text").asText()).isEqualTo("ab");
  }

  private CompletableFuture<HttpResponse<String>> within500(String more) {
    String body = "{\"model\":\"bytes\",\"prompt\":\"x\"" + more + "}";
    return edge.client.sendAsync(
        edge.request("/v1/completions")
            .header("Authorization", "Bearer " + EdgeFixture.KEY)
            .header(Urgency.HEADER, "500")
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void a_client_that_leaves_while_there_is_no_replica_leaves_nothing_behind() throws Exception {
    start("");
    CompletableFuture<HttpResponse<String>> answer = begun("");
    edge.replica.nextSubmit();
    edge.replica.stop();
    Waiting.until(() -> edge.meters.find("firstlight.edge.moves").counter() != null);

    answer.cancel(true);

    Waiting.until(() -> edge.meters.get("firstlight.edge.generations").gauge().value() == 0);
    Waiting.until(() -> edge.meters.get("firstlight.edge.requests.running").gauge().value() == 0);
    assertThat(edge.eventWith("cancelled").getErrorCode()).isEmpty();
  }

  @Test
  void a_replica_that_falls_silent_counts_as_lost_and_a_new_report_brings_it_back()
      throws Exception {
    start("times: {moveTimeout: 200ms}");
    CompletableFuture<HttpResponse<String>> whole = begun("");
    edge.replica.nextSubmit();

    edge.replica.stopReporting();

    assertThat(whole.get(10, TimeUnit.SECONDS).statusCode()).isEqualTo(503);
    EdgeFixture.Answer refused = edge.completion("\"prompt\":\"x\"");
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.json().at("/error/code").asText()).isEqualTo("no_replica");
    assertThat(refused.header("retry-after")).isEqualTo("1");
    String hi = "\"model\":\"bytes\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    EdgeFixture.Answer counted = edge.post("/v1/messages/count_tokens", "{" + hi);
    assertThat(counted.status()).as("to count needs no replica").isEqualTo(200);
    assertThat(counted.json().get("input_tokens").asInt()).isPositive();
    EdgeFixture.Answer measured =
        edge.post("/v1/responses/input_tokens", "{\"model\":\"bytes\",\"input\":\"hi\"}");
    assertThat(measured.status()).isEqualTo(200);
    assertThat(measured.json().get("input_tokens").asInt()).isPositive();
    EdgeFixture.Answer ready = edge.get("/health/ready");
    assertThat(ready.status()).isEqualTo(503);
    assertThat(ready.json().at("/models/bytes").asText()).isEqualTo("no replica");

    edge.saying("back");
    edge.replica.announce();
    EdgeFixture.Answer again = edge.completion("\"prompt\":\"x\"");
    assertThat(again.json().at("/choices/0/text").asText()).isEqualTo("back");
  }

  @Test
  void a_stopping_edge_ends_what_runs_with_a_clear_word() throws Exception {
    start("");
    CompletableFuture<HttpResponse<String>> whole = begun("");
    edge.replica.nextSubmit();

    edge.stopEdge();

    HttpResponse<String> answer = whole.get(10, TimeUnit.SECONDS);
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body()).contains("shutting_down");
  }
}
