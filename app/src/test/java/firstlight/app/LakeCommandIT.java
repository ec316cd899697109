package firstlight.app;

import static firstlight.app.Client.object;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Answer;
import firstlight.app.PublishedClients.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** The lake, read as an analyst does: while the node runs, by another engine, and afterwards. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LakeCommandIT {
  private static final int RESPONSES = 20;
  private static final int FEEDBACKS = 5;
  private static final Duration VISIBLE = Duration.ofMinutes(2);
  private static final String TOTALS =
      "select count(*) as rows, sum(prompt_tokens)::bigint as prompt_tokens,"
          + " sum(output_tokens)::bigint as output_tokens from responses";

  private LakeCommands lake;
  private FirstlightProcess node;
  private String totals = "";

  @BeforeAll
  void serve() throws Exception {
    lake = LakeCommands.fresh("lake-command");
    node = lake.up();
    try (Client client = new Client(node.address(), "")) {
      totals = send(client);
    }
  }

  @AfterAll
  void stop() {
    node.close();
  }

  private static String send(Client client) throws Exception {
    long prompt = 0;
    long output = 0;
    for (int i = 0; i < RESPONSES; i++) {
      ObjectNode body =
          object("{\"model\":\"smollm2-135m\",\"temperature\":0}")
              .put("input", "Word " + i)
              .put("max_output_tokens", 1 + i % 8);
      Answer answer = client.send("/v1/responses", body);
      assertThat(answer.status()).isEqualTo(200);
      prompt += answer.body().at("/usage/input_tokens").asLong();
      output += answer.body().at("/usage/output_tokens").asLong();
      if (i < FEEDBACKS) {
        ObjectNode feedback = object("{\"correction\":\"Exactly " + i + "\"}");
        feedback.putObject("target").put("response_id", answer.body().get("id").asText());
        assertThat(client.send("/v1/feedback", feedback).status()).isEqualTo(202);
      }
    }
    return "{\"rows\":%d,\"prompt_tokens\":%d,\"output_tokens\":%d}"
        .formatted(RESPONSES, prompt, output);
  }

  @Test
  @Order(1)
  void what_was_served_is_there_and_right() throws Exception {
    Eventually.holds(
        VISIBLE,
        "all Responses and feedback visible",
        () ->
            lake.run("sql", TOTALS, "--format", "jsonl").output().strip().equals(totals)
                && lake.run("feedback", "--format", "jsonl").output().lines().count() == FEEDBACKS);
    assertThat(Files.getPosixFilePermissions(lake.data().resolve("services.json")))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  @Order(2)
  void another_reader_sees_the_same() throws Exception {
    Path written = FirstlightProcess.freshFolder("tables");
    for (String table : tables()) {
      Path file = written.resolve(table + ".parquet");
      lake.run("sql", "from " + table, "--format", "parquet", "--output", file.toString()).ok();
    }
    Run run =
        PublishedClients.iceberg(
            "lake_reader.py", lake.data().resolve("services.json").toString(), written.toString());
    List<String> tables = new ArrayList<>();
    for (String line : run.ok().output().lines().toList()) {
      System.out.println(line);
      JsonNode table = Client.JSON.readTree(line);
      String name = table.get("table").asText();
      tables.add(name);
      assertThat(table.get("files")).as(name).isEqualTo(table.get("scanned"));
      assertThat(table.get("duckdb")).as(name).isEqualTo(table.get("scanned"));
      if (name.equals("responses")) {
        assertThat(table.get("scanned")).hasToString(totals);
      }
    }
    assertThat(tables).contains("responses", "feedback");
  }

  private List<String> tables() throws Exception {
    JsonNode status = Client.JSON.readTree(lake.run("status", "--format", "json").ok().output());
    return status.findValuesAsText("table");
  }

  @Test
  @Order(3)
  void the_other_commands_answer() throws Exception {
    assertThat(lake.run("responses", "--limit", "3").ok().output())
        .contains("smollm2-135m", "(3 rows)");
    assertThat(lake.run("responses", "--since", "3000-01-01").ok().output()).contains("(0 rows)");
    JsonNode status = Client.JSON.readTree(lake.run("status", "--format", "json").ok().output());
    assertThat(status.get(0).get("rows").asInt()).isEqualTo(RESPONSES);
    Run export = lake.run("export", "--format", "sft").ok();
    assertThat(export.output().lines()).hasSize(FEEDBACKS);
    assertThat(export.output())
        .contains(
            "[{\"role\":\"user\",\"content\":\"Word 0\"},"
                + "{\"role\":\"assistant\",\"content\":\"Exactly 0\"}]");
    assertThat(export.errors()).contains(FEEDBACKS + " written");
    Run wrong = lake.run("sql", "selct 1");
    assertThat(wrong.status()).isEqualTo(1);
    assertThat(wrong.errors())
        .contains("firstlight: Parser Error: syntax error at or near \"selct\"")
        .doesNotContain("\tat ");
  }

  @Test
  @Order(4)
  void the_lake_can_be_read_when_no_node_runs() throws Exception {
    node.close();
    assertThat(lake.data().resolve("services.json")).doesNotExist();
    assertThat(lake.ask(TOTALS)).isEqualTo(totals);
    assertThat(lake.run("compact").ok().output()).contains("files");
    assertThat(lake.ask(TOTALS)).isEqualTo(totals);
  }
}
