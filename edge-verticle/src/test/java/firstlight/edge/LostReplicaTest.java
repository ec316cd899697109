package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.wire.Submit;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Goal: a replica that is lost fails its own generations within two seconds, and only those; others
 * take over.
 */
class LostReplicaTest {
  private EdgeFixture edge;

  @BeforeEach
  void start() throws Exception {
    edge = new EdgeFixture("");
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

  @Test
  void a_broken_link_ends_its_streams_with_an_error_and_later_requests_go_elsewhere()
      throws Exception {
    CompletableFuture<HttpResponse<String>> stream = begun(",\"stream\":true");
    Submit submit = edge.replica.nextSubmit();
    edge.replica.emit(submit.getGeneration(), 'a');
    CompletableFuture<HttpResponse<String>> whole = begun("");
    edge.replica.nextSubmit();
    FakeReplica other = new FakeReplica(edge.vertx, "r9", EdgeFixture.MODEL);
    other.answering(_ -> new int[] {'o', ByteTokenizer.END}).start();

    long lost = System.nanoTime();
    edge.replica.stop();

    assertThat(stream.get(10, TimeUnit.SECONDS).body())
        .contains("\"text\":\"a\"", "data: {\"error\":{", "replica_lost")
        .doesNotContain("[DONE]");
    HttpResponse<String> failed = whole.get(10, TimeUnit.SECONDS);
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lost)).isLessThan(2_000);
    assertThat(failed.statusCode()).isEqualTo(503);
    assertThat(failed.headers().firstValue("retry-after")).isPresent();
    EdgeFixture.Answer next = edge.completion("\"prompt\":\"x\"");
    assertThat(next.json().at("/choices/0/text").asText()).isEqualTo("o");
    assertThat(edge.eventWith("failed").getErrorCode()).isEqualTo("replica_lost");
  }

  @Test
  void a_replica_that_falls_silent_counts_as_lost_and_a_new_report_brings_it_back()
      throws Exception {
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
    CompletableFuture<HttpResponse<String>> whole = begun("");
    edge.replica.nextSubmit();

    edge.stopEdge();

    HttpResponse<String> answer = whole.get(10, TimeUnit.SECONDS);
    assertThat(answer.statusCode()).isEqualTo(503);
    assertThat(answer.body()).contains("shutting_down");
  }
}
