package firstlight.app;

import static firstlight.app.Client.object;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Streamed;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A stop is quick and clean, and what was stored or counted is there after the next start. */
class StopIT {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  @Test
  void it_ends_within_five_seconds_with_its_children_and_goes_on_where_it_was() throws Exception {
    Path data = FirstlightProcess.freshFolder("stop");
    String id;
    try (FirstlightProcess first = start(data);
        Client client = new Client(first.address(), "")) {
      id =
          client
              .send(
                  "/v1/responses",
                  object("{\"model\":\"smollm2-135m\",\"input\":\"hello\",\"temperature\":0}"))
              .body()
              .get("id")
              .asText();
      List<ProcessHandle> children = first.handle().descendants().toList();
      assertThat(children).isNotEmpty();
      long begin = System.nanoTime();
      first.interrupt();
      first.exitCode();
      assertThat(System.nanoTime() - begin).isLessThan(LIMIT.toNanos());
      Eventually.holds(
          Duration.ofSeconds(1),
          "no child lives on",
          () -> children.stream().noneMatch(ProcessHandle::isAlive));
    }
    try (FirstlightProcess second = start(data);
        Client client = new Client(second.address(), "")) {
      assertThat(client.get("/v1/responses/" + id).status()).isEqualTo(200);
      assertThat(second.output()).doesNotContain("Exception");
    }
  }

  @Test
  void a_start_after_a_kill_ends_what_was_left_and_serves() throws Exception {
    Path data = FirstlightProcess.freshFolder("kill");
    List<ProcessHandle> left;
    try (FirstlightProcess first = start(data)) {
      first.address();
      left = first.handle().descendants().toList();
      first.kill();
      first.exitCode();
    }
    assertThat(left).anyMatch(ProcessHandle::isAlive);
    try (FirstlightProcess second = start(data);
        Client client = new Client(second.address(), "")) {
      assertThat(client.get("/health/ready").status()).isEqualTo(200);
      assertThat(left).noneMatch(ProcessHandle::isAlive);
    }
  }

  /** Field case B62: of a node that is told to stop nobody loses an answer. */
  @Test
  void a_node_that_drains_lets_answers_end_and_takes_no_new_ones() throws Exception {
    Path data = FirstlightProcess.freshFolder("drain");
    Path config =
        Files.writeString(
            data.resolve("drain.yaml"),
            """
            node: {embedded: true, drain: 60s, data: %s}
            models: {smollm2-135m: {default: true}}
            edge: {port: 0, open: true}
            """
                .formatted(data.resolve("data")));
    try (FirstlightProcess node = FirstlightProcess.start("up", "--config", config.toString());
        Client client = new Client(node.address(), "")) {
      ObjectNode body =
          object("{\"model\":\"smollm2-135m\",\"stream\":true,\"ignore_eos\":true}")
              .put("prompt", "Once upon a time")
              .put("max_tokens", 400);
      CompletableFuture<Streamed> stream = client.streamLater("/v1/completions", body);
      Eventually.holds(
          Duration.ofSeconds(30),
          "it runs",
          () -> client.text("/metrics").contains("firstlight_edge_generations 1"));

      node.interrupt();

      Eventually.holds(
          Duration.ofSeconds(5),
          "it is not ready",
          () -> client.get("/health/ready").status() == 503);
      assertThat(stream).isNotDone();
      Client.Answer refused = client.send("/v1/completions", body);
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.body().at("/error/code").asText()).isEqualTo("shutting_down");
      assertThat(stream.get(60, TimeUnit.SECONDS).done()).isTrue();
      node.exitCode();
      assertThat(node.output()).contains("draining").doesNotContain("are at work still");
    }
  }

  private static FirstlightProcess start(Path data) throws Exception {
    return FirstlightProcess.start("up", "--port", "0", "--data", data.toString());
  }
}
