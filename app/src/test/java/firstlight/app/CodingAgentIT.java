package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Codex at work without anybody at its side: asked, it calls a tool of its own, answers in JSON by
 * a schema, and goes on in the same session when it is started again.
 *
 * <p>So small a model calls a tool by chance only, so the relay in between makes it sure: it has
 * the first request name a tool that does no harm, and the others none. All else is Codex's own.
 */
@ExtendWith(SharedFirstlight.class)
class CodingAgentIT {
  private static final String TOOL = "get_goal";

  private final Served served;
  private final JsonNode task = PublishedClients.task();

  CodingAgentIT(Served served) {
    this.served = served;
  }

  private static void choose(int number, ObjectNode request) {
    if (number == 0) {
      request.putObject("tool_choice").put("type", "function").put("name", TOOL);
    } else {
      request.put("tool_choice", "none");
    }
  }

  @Test
  void codex_holds_a_session_with_a_tool_and_answers_by_a_schema() throws Exception {
    Path folder = FirstlightProcess.freshFolder("codex").toAbsolutePath();
    try (Relay relay = new Relay(served.address(), CodingAgentIT::choose)) {
      write(folder, relay);
      asked(folder, List.of("exec"), task.get("question").asText());
      asked(folder, List.of("exec", "resume", "--last"), task.get("request").asText());
      assertThat(relay.exchanges())
          .extracting(Relay.Exchange::path)
          .containsExactly("/v1/responses", "/v1/responses", "/v1/responses");
      assertThat(relay.exchanges())
          .allSatisfy(
              exchange -> {
                assertThat(exchange.status()).as(exchange.answer()).isEqualTo(200);
                assertThat(exchange.answer()).contains("event: response.completed");
              });
      JsonNode input = relay.exchanges().get(1).request().get("input");
      JsonNode call = input.get(input.size() - 2);
      JsonNode result = input.get(input.size() - 1);
      assertThat(call.get("type").asText()).isEqualTo("function_call");
      assertThat(call.get("name").asText()).isEqualTo(TOOL);
      assertThat(result.get("type").asText()).isEqualTo("function_call_output");
      assertThat(result.get("call_id")).isEqualTo(call.get("call_id"));
      assertThat(relay.exchanges().get(2).request().get("input").size())
          .as("the session goes on")
          .isGreaterThan(input.size() + 1);
    }
  }

  private void write(Path folder, Relay relay) throws Exception {
    String config =
        Files.readString(PublishedClients.scripts().resolve("codex.toml"))
            .replace("ADDRESS", relay.address().toString())
            .replace("FOLDER", folder.toString());
    Files.writeString(folder.resolve("config.toml"), config);
    Files.writeString(folder.resolve("instructions.md"), "You help with the weather.");
    Files.writeString(folder.resolve("answer.json"), task.get("answer").toString());
  }

  /** Asks once, and looks at what Codex says of it: each line of its output is an event. */
  private void asked(Path folder, List<String> command, String question) throws Exception {
    List<String> whole = new ArrayList<>(List.of(PublishedClients.codex().toString()));
    whole.addAll(command);
    whole.addAll(
        List.of("--json", "--skip-git-repo-check", "--output-schema", "answer.json", question));
    PublishedClients.Run run =
        PublishedClients.run(
                folder,
                whole,
                Map.of("CODEX_HOME", folder.toString(), "FIRSTLIGHT_KEY", "test-key-a"))
            .ok();
    List<JsonNode> events = new ArrayList<>();
    for (String line : run.output().lines().toList()) {
      events.add(Client.JSON.readTree(line));
    }
    assertThat(events)
        .extracting(event -> event.get("type").asText())
        .contains("turn.completed")
        .doesNotContain("turn.failed", "error");
    assertThat(run.errors()).doesNotContain("ERROR");
    assertThat(events.getLast().at("/usage/output_tokens").asInt()).isPositive();
    String answer =
        events.stream()
            .filter(event -> event.at("/item/type").asText().equals("agent_message"))
            .reduce((_, last) -> last)
            .orElseThrow()
            .at("/item/text")
            .asText();
    Schemas.check(task.get("answer"), answer, question);
  }
}
