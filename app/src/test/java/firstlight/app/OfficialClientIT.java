package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The makers' own clients, unchanged, against the jar: each streams a session in which the model
 * says something, then calls a tool, and then answers in JSON with what the tool said.
 */
@ExtendWith(SharedFirstlight.class)
class OfficialClientIT {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final int TURNS = 3;

  private final Served served;
  private final JsonNode task = PublishedClients.task();

  OfficialClientIT(Served served) {
    this.served = served;
  }

  private String[] target() {
    return new String[] {served.address().toString(), "test-key-a", Served.SMOLLM2};
  }

  @Test
  void openai_for_python() throws Exception {
    hold(
        () -> PublishedClients.python("openai_client.py", target()),
        List.of("chat", "responses", "websocket"),
        Map.of("chat.completions", TURNS, "responses", 2 * TURNS, "completions", 1));
  }

  @Test
  void openai_for_node() throws Exception {
    hold(
        () -> PublishedClients.node("openai_client.mjs", target()),
        List.of("chat", "responses", "websocket"),
        Map.of("chat.completions", TURNS, "responses", 2 * TURNS));
  }

  @Test
  void anthropic_for_python() throws Exception {
    hold(
        () -> PublishedClients.python("anthropic_client.py", target()),
        List.of("messages"),
        Map.of("messages", TURNS));
  }

  private void hold(
      Callable<PublishedClients.Run> client, List<String> names, Map<String, Integer> dialects)
      throws Exception {
    Figures before = Figures.of(served.a());
    List<JsonNode> sessions = sessions(client.call());
    assertThat(sessions)
        .extracting(session -> session.get("session").asText())
        .containsExactlyElementsOf(names);
    sessions.forEach(this::check);
    answered(before, dialects);
  }

  private static List<JsonNode> sessions(PublishedClients.Run run) throws Exception {
    List<JsonNode> sessions = new ArrayList<>();
    for (String line : run.ok().output().lines().toList()) {
      sessions.add(Client.JSON.readTree(line));
    }
    return sessions;
  }

  private void check(JsonNode session) {
    assertThat(session.get("greeting").asText()).isNotBlank();
    assertThat(session.get("tool")).isEqualTo(task.at("/tool/name"));
    Schemas.check(task.at("/tool/parameters"), session.get("arguments").asText(), "the call");
    Schemas.check(task.get("answer"), session.get("answer").asText(), "the answer");
    assertThat(session.get("events")).hasSize(TURNS).allMatch(events -> events.asInt() > 3);
    assertThat(session.get("usage")).hasSize(TURNS);
    int input = 0;
    for (JsonNode usage : session.get("usage")) {
      assertThat(usage.get("input").asInt()).as("it grows: %s", session).isGreaterThan(input);
      assertThat(usage.get("output").asInt()).as("%s", session).isPositive();
      input = usage.get("input").asInt();
    }
  }

  /** What the service says of it: so many requests of each kind, and not one that went wrong. */
  private void answered(Figures before, Map<String, Integer> dialects) throws Exception {
    Eventually.holds(SOON, "everything is idle", () -> Figures.of(served.a()).idle());
    Figures after = Figures.of(served.a());
    dialects.forEach(
        (dialect, count) ->
            assertThat(more(before, after, "firstlight_requests_total", "\"" + dialect + "\""))
                .as("requests of %s", dialect)
                .isEqualTo(count.doubleValue()));
    assertThat(more(before, after, "firstlight_requests_total", "outcome=\"completed\""))
        .isEqualTo(dialects.values().stream().mapToDouble(count -> count).sum());
    for (String refused : List.of("status=\"4", "status=\"5")) {
      assertThat(more(before, after, "firstlight_http_requests_total", refused)).isZero();
    }
  }

  private static double more(Figures before, Figures after, String name, String labels) {
    return after.sum(name, labels) - before.sum(name, labels);
  }
}
