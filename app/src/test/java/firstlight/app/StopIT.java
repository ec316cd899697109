package firstlight.app;

import static firstlight.app.Client.object;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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

  private static FirstlightProcess start(Path data) throws Exception {
    return FirstlightProcess.start("up", "--port", "0", "--data", data.toString());
  }
}
