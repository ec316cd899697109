package firstlight.app;

import static firstlight.app.Client.object;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** From the answer a client gets to the rows an analyst reads. */
class LakeIT {
  private static final int RESPONSES = 100;
  private static final int FEEDBACKS = 20;
  private static final Duration VISIBLE = Duration.ofSeconds(30);

  @Test
  void responses_and_feedbacks_are_in_the_lake_once_each_with_right_token_counts()
      throws Exception {
    Path data = FirstlightProcess.freshFolder("lake");
    Path config =
        Files.writeString(
            data.resolve("conf.yaml"),
            """
            node: {embedded: true}
            models: {smollm2-135m: {default: true}}
            edge: {port: 0, open: true}
            feedback: {files: {ageMax: 1s}}
            """);
    try (FirstlightProcess process =
            FirstlightProcess.start(
                "up", "--config", config.toString(), "--data", data.resolve("d").toString());
        Client client = new Client(process.address(), "")) {
      Totals sent = send(client);
      Path events = data.resolve("d/objects/firstlight");
      Eventually.holds(VISIBLE, "all events visible", () -> count(events) >= RESPONSES + FEEDBACKS);
      assertThat(count(events)).isEqualTo(RESPONSES + FEEDBACKS);
      assertThat(totals(events)).isEqualTo(sent);
      assertThat(
              number(
                  events, "select count(distinct feedback_id) from lake where feedback_id <> ''"))
          .isEqualTo(FEEDBACKS);
    }
  }

  private record Totals(long prompt, long output) {}

  private static Totals send(Client client) throws Exception {
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
    return new Totals(prompt, output);
  }

  private static boolean hasFiles(Path events) throws Exception {
    if (!Files.isDirectory(events)) {
      return false;
    }
    try (var files = Files.walk(events)) {
      return files.anyMatch(file -> file.toString().endsWith(".parquet"));
    }
  }

  private static long count(Path events) throws Exception {
    return hasFiles(events) ? number(events, "select count(*) from lake") : 0;
  }

  private static Totals totals(Path events) throws Exception {
    return new Totals(
        number(events, "select sum(prompt_tokens) from lake where output_tokens is not null"),
        number(events, "select sum(output_tokens) from lake"));
  }

  private static long number(Path events, String query) throws SQLException {
    String view =
        "with lake as (from read_parquet('%s/**/*.parquet', union_by_name=true)) "
            .formatted(events);
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:");
        ResultSet rows = duck.createStatement().executeQuery(view + query)) {
      rows.next();
      return rows.getLong(1);
    }
  }
}
