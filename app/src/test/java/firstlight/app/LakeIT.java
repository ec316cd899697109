package firstlight.app;

import static firstlight.app.Client.object;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** From the answer a client gets to the rows an analyst reads. */
class LakeIT {
  private static final int RESPONSES = 100;
  private static final int FEEDBACKS = 20;

  private static final Duration VISIBLE = Duration.ofMinutes(2);
  private static final String TOTALS =
      "select count(*) as responses, sum(prompt_tokens)::bigint as prompt_tokens,"
          + " sum(output_tokens)::bigint as output_tokens,"
          + " (select count(distinct feedback_id) from feedback) as feedback from responses";

  @Test
  void responses_and_feedbacks_are_in_the_lake_once_each_with_right_token_counts()
      throws Exception {
    LakeCommands lake = LakeCommands.fresh("lake");
    try (FirstlightProcess process = lake.up();
        Client client = new Client(process.address(), "")) {
      String sent = send(client);
      Eventually.holds(
          VISIBLE,
          "all Events visible",
          () -> lake.run("sql", TOTALS, "--format", "jsonl").output().strip().equals(sent));
      // The views drop repeats; this is what lies in the files.
      assertThat(rows(lake))
          .containsEntry("responses", RESPONSES)
          .containsEntry("feedback", FEEDBACKS);
      assertThat(
              lake.ask(
                  "select count(session) as s, count(distinct session) as d,"
                      + " min(len(input_messages)) as m from responses"))
          .isEqualTo("{\"s\":%1$d,\"d\":%1$d,\"m\":1}".formatted(RESPONSES));
    }
  }

  private static Map<String, Integer> rows(LakeCommands lake) throws Exception {
    JsonNode status = Client.JSON.readTree(lake.run("status", "--format", "json").ok().output());
    return StreamSupport.stream(status.spliterator(), false)
        .collect(
            Collectors.toMap(
                table -> table.get("table").asText(), table -> table.get("rows").asInt()));
  }

  private static String send(Client client) throws Exception {
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int i = 0; i < RESPONSES; i++) {
      ObjectNode body =
          object("{\"model\":\"smollm2-135m\",\"temperature\":0}")
              .put("input", "Word " + i)
              .put("max_output_tokens", 1 + i % 8);
      answers.add(client.sendLater("/v1/responses", body));
    }
    long prompt = 0;
    long output = 0;
    for (int i = 0; i < RESPONSES; i++) {
      Answer answer = answers.get(i).get();
      assertThat(answer.status()).as(answer.body().toString()).isEqualTo(200);
      prompt += answer.body().at("/usage/input_tokens").asLong();
      output += answer.body().at("/usage/output_tokens").asLong();
      if (i < FEEDBACKS) {
        ObjectNode feedback =
            object("{\"name\":\"helpful\",\"data_type\":\"boolean\",\"value\":true}");
        feedback.putObject("target").put("response_id", answer.body().get("id").asText());
        assertThat(client.send("/v1/feedback", feedback).status()).isEqualTo(202);
      }
    }
    return "{\"responses\":%d,\"prompt_tokens\":%d,\"output_tokens\":%d,\"feedback\":%d}"
        .formatted(RESPONSES, prompt, output, FEEDBACKS);
  }
}
