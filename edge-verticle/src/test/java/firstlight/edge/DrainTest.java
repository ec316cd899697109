package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FinishReason;
import firstlight.protocol.wire.Submit;
import io.vertx.core.Future;
import java.net.http.HttpResponse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An edge that is about to stop. */
class DrainTest {
  private EdgeFixture edge;

  @BeforeEach
  void start() throws Exception {
    edge = new EdgeFixture("");
  }

  @AfterEach
  void stop() throws Exception {
    edge.close();
  }

  @Test
  void what_is_at_work_ends_and_nothing_new_is_taken() throws Exception {
    CompletableFuture<HttpResponse<String>> stream =
        edge.client.sendAsync(
            edge.postRequest(
                "/v1/completions", "{\"model\":\"bytes\",\"prompt\":\"x\",\"stream\":true}"),
            HttpResponse.BodyHandlers.ofString());
    Submit submit = edge.replica.nextSubmit();
    edge.replica.emit(submit.getGeneration(), 'a');

    Future<Void> drained = edge.drain();

    EdgeFixture.Answer ready = edge.get("/health/ready");
    assertThat(ready.status()).isEqualTo(503);
    assertThat(ready.json().get("status").asText()).isEqualTo("draining");
    assertThat(edge.get("/health/live").status()).isEqualTo(200);
    EdgeFixture.Answer refused = edge.completion("\"prompt\":\"x\"");
    assertThat(refused.status()).isEqualTo(503);
    assertThat(refused.json().at("/error/code").asText()).isEqualTo("shutting_down");
    assertThat(refused.header("connection")).isEqualTo("close");
    assertThat(refused.header("retry-after")).isEqualTo("1");
    assertThat(drained.isComplete()).isFalse();

    edge.replica.emit(submit.getGeneration(), 'b');
    edge.replica.end(submit.getGeneration(), FinishReason.END);
    assertThat(stream.get(10, TimeUnit.SECONDS).body()).contains("\"b\"", "[DONE]");
    Waiting.on(drained);
  }

  @Test
  void an_edge_without_work_is_drained_at_once() throws Exception {
    Waiting.on(edge.drain());
    assertThat(edge.get("/health/ready").status()).isEqualTo(503);
  }
}
