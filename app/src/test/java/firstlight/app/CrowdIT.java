package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * The real model in a memory so small that Sequences lose their Blocks again and again: every token
 * and log-probability is what the request gets alone. {@code -Dcrowd=200} asks more of it.
 */
class CrowdIT {
  private static final int REQUESTS = Integer.getInteger("crowd", 48);
  private static final int ABREAST = 32;
  private static final int TOKENS = 48;

  /** Room for five or six requests of those that come, and no room is kept for answers. */
  private static final String CONFIGURATION =
      """
      node:
        embedded: true
        data: %s
      models:
        smollm2-135m:
          default: true
      gpu:
        kvBlocks: 40
      batcher:
        reservedOutput: 0
        runningMax: 32
        waitingMax: 64
        firstTokenMax: 300s
      edge:
        host: 127.0.0.1
        port: 0
        open: false
        tenants:
          a:
            key: test-key-a
          b:
            key: test-key-b
      """;

  @Test
  void a_crowd_in_a_tiny_memory_gets_what_each_gets_alone() throws Exception {
    Path data = FirstlightProcess.freshFolder("crowd");
    Path file = data.resolve("crowd.yaml");
    Files.writeString(file, CONFIGURATION.formatted(data.toAbsolutePath()));
    try (Served served =
        new Served(FirstlightProcess.start("up", "--config", file.toAbsolutePath().toString()))) {
      List<JsonNode> alone = new ArrayList<>();
      for (int i = 0; i < REQUESTS; i++) {
        alone.add(choices(served.a().send(Served.CHAT, request(i))));
      }
      assertThat(preemptions(served)).isZero();
      List<JsonNode> crowd = crowd(served);
      for (int i = 0; i < REQUESTS; i++) {
        assertThat(crowd.get(i)).as("request %d", i).isEqualTo(alone.get(i));
      }
      System.out.printf("%d requests, %.0f preemptions%n", REQUESTS, preemptions(served));
      assertThat(preemptions(served)).isGreaterThanOrEqualTo(REQUESTS / 4.0);
    }
  }

  private static double preemptions(Served served) throws Exception {
    return Figures.of(served.a()).sum("vllm:num_preemptions_total");
  }

  /** Never more than so many at once; the next goes as soon as the one so many before is done. */
  private static List<JsonNode> crowd(Served served) throws Exception {
    List<CompletableFuture<Client.Answer>> answers = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      if (i >= ABREAST) {
        answers.get(i - ABREAST).get();
      }
      answers.add(served.a().sendLater(Served.CHAT, request(i)));
    }
    List<JsonNode> choices = new ArrayList<>();
    for (CompletableFuture<Client.Answer> answer : answers) {
      choices.add(choices(answer.get()));
    }
    return choices;
  }

  private static JsonNode choices(Client.Answer answer) {
    assertThat(answer.status()).as(answer.body().toString()).isEqualTo(200);
    return answer.body().get("choices");
  }

  /** Of many lengths, greedy and by chance, with and without penalties. */
  private static ObjectNode request(int i) {
    String text = "Tell me about number %d. ".formatted(i) + "Go on. ".repeat(i * 7 % 30);
    return Served.chat(text, TOKENS)
        .put("temperature", i % 2 == 0 ? 0 : 0.9)
        .put("seed", i)
        .put("presence_penalty", i % 3 == 0 ? 0.5 : 0)
        .put("ignore_eos", i % 4 == 0)
        .put("logprobs", true)
        .put("top_logprobs", 3);
  }
}
