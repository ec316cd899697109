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
import java.util.Map;
import java.util.stream.Stream;
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

  private Path folder;
  private Path config;
  private FirstlightProcess node;
  private String totals = "";

  @BeforeAll
  void serve() throws Exception {
    Path fresh = FirstlightProcess.freshFolder("lake-command");
    folder = fresh.resolve("d");
    config =
        Files.writeString(
            fresh.resolve("conf.yaml"),
            """
            node: {embedded: true}
            models: {smollm2-135m: {default: true}}
            edge: {port: 0, open: true}
            feedback: {files: {ageMax: 1s}}
            """);
    node =
        FirstlightProcess.start("up", "--config", config.toString(), "--data", folder.toString());
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

  private Run lake(String... arguments) throws Exception {
    String[] all =
        Stream.of(
                Stream.of("lake"),
                Stream.of(arguments),
                Stream.of("--config", config.toString(), "--data", folder.toString()))
            .flatMap(each -> each)
            .toArray(String[]::new);
    return PublishedClients.run(
        FirstlightProcess.freshFolder("lake"), FirstlightProcess.command(all), Map.of());
  }

  private String ask(String sql) throws Exception {
    return lake("sql", sql, "--format", "jsonl").ok().output().strip();
  }

  @Test
  @Order(1)
  void what_was_served_is_there_and_right() throws Exception {
    Eventually.holds(
        VISIBLE,
        "all Responses and feedback visible",
        () ->
            lake("sql", TOTALS, "--format", "jsonl").output().strip().equals(totals)
                && lake("feedback", "--format", "jsonl").output().lines().count() == FEEDBACKS);
    assertThat(Files.getPosixFilePermissions(folder.resolve("services.json")))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
  }

  @Test
  @Order(2)
  void another_reader_sees_the_same() throws Exception {
    Run run =
        PublishedClients.iceberg("lake_reader.py", folder.resolve("services.json").toString());
    List<String> tables = new ArrayList<>();
    for (String line : run.ok().output().lines().toList()) {
      JsonNode table = Client.JSON.readTree(line);
      tables.add(table.get("table").asText());
      String name = table.get("table").asText();
      assertThat(table.get("scanned").get("rows").asText())
          .isEqualTo(ask("select count(*)::varchar as n from " + name).replaceAll("\\D", ""));
      if (name.equals("responses")) {
        assertThat(table.get("scanned")).hasToString(totals);
        assertThat(table.get("files")).hasToString(totals);
      }
      assertThat(ask("select list(column_name) as c from (describe %s)".formatted(name)))
          .isEqualTo("{\"c\":%s}".formatted(table.get("columns")));
    }
    assertThat(tables).contains("responses", "feedback");
  }

  @Test
  @Order(3)
  void the_other_commands_answer() throws Exception {
    assertThat(lake("responses", "--limit", "3").ok().output())
        .contains("smollm2-135m", "(3 rows)");
    JsonNode status = Client.JSON.readTree(lake("status", "--format", "json").ok().output());
    assertThat(status.get(0).get("rows").asInt()).isEqualTo(RESPONSES);
    Run export = lake("export", "--format", "sft").ok();
    assertThat(export.output().lines()).hasSize(FEEDBACKS);
    assertThat(export.output()).contains("\"content\":\"Exactly 0\"");
    assertThat(export.errors()).contains(FEEDBACKS + " written");
    Run wrong = lake("sql", "selct 1");
    assertThat(wrong.status()).isEqualTo(1);
    assertThat(wrong.errors())
        .contains("firstlight: Parser Error: syntax error at or near \"selct\"")
        .doesNotContain("\tat ");
  }

  @Test
  @Order(4)
  void the_lake_can_be_read_when_no_node_runs() throws Exception {
    node.close();
    assertThat(folder.resolve("services.json")).doesNotExist();
    assertThat(ask(TOTALS)).isEqualTo(totals);
    assertThat(lake("compact").ok().output()).contains("files");
    assertThat(ask(TOTALS)).isEqualTo(totals);
  }
}
