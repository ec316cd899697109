package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.edge.EdgeModels;
import firstlight.model.Model;
import firstlight.model.TestModels;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An answer whose replica dies at any of its Steps: every byte that the client gets is that of an
 * answer whose replica lived, but for ids and times.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 180, unit = TimeUnit.SECONDS)
class MovedAnswerTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final String SCHEMA =
      """
      {"type": "object", "additionalProperties": false, "required": ["ok", "kind"], "properties":
        {"ok": {"type": "boolean"}, "kind": {"enum": ["first", "second", "third"]}}}
      """;
  private static final String CHAT =
      """
      "model": "glass", "stream": true, "seed": 11, "temperature": 0.8, "max_tokens": 24,
      "stream_options": {"include_usage": true},
      "messages": [{"role": "user", "content": "Say something."}]
      """;
  private static final String RESPONSE =
      """
      "model": "glass", "stream": true, "store": false, "temperature": 0,
      "max_output_tokens": 24, "input": "Say something."
      """;

  private static final Pattern OWN_TO_A_REQUEST =
      Pattern.compile(
          "(?<=\\b(chatcmpl-|resp_|msg_|call_|fc_|rs_|toolu_))[A-Za-z0-9_-]+"
              + "|(?<=\"(created|created_at|completed_at)\":)[0-9]+");

  private final HttpClient http = HttpClient.newHttpClient();
  private Model model;
  private EdgeModels edgeModels;

  /** What is asked for. */
  enum Kind {
    CHAT(
        "/v1/chat/completions", MovedAnswerTest.CHAT + ", \"logprobs\": true, \"top_logprobs\": 2"),
    /** Whole, since pieces of several answers may come in any order. */
    CHOICES(
        "/v1/chat/completions",
        """
        "model": "glass", "seed": 11, "temperature": 0.8, "max_tokens": 24, "n": 3,
        "messages": [{"role": "user", "content": "Say something."}]
        """),
    SCHEMA(
        "/v1/chat/completions",
        MovedAnswerTest.CHAT
            + ", \"response_format\": {\"type\": \"json_schema\", \"json_schema\": {\"name\":"
            + " \"s\", \"strict\": true, \"schema\": "
            + MovedAnswerTest.SCHEMA
            + "}}"),
    TOOL(
        "/v1/chat/completions",
        MovedAnswerTest.CHAT
            + ", \"tool_choice\": \"required\", \"tools\": [{\"type\": \"function\", \"function\":"
            + " {\"name\": \"note\", \"parameters\": "
            + MovedAnswerTest.SCHEMA
            + "}}]"),
    RESPONSE("/v1/responses", MovedAnswerTest.RESPONSE),
    RESPONSE_TOOL(
        "/v1/responses",
        MovedAnswerTest.RESPONSE
            + ", \"tool_choice\": \"required\", \"tools\": [{\"type\": \"function\", \"name\":"
            + " \"note\", \"parameters\": "
            + MovedAnswerTest.SCHEMA
            + "}]"),
    MESSAGES(
        "/v1/messages",
        """
        "model": "glass", "stream": true, "temperature": 0, "max_tokens": 24,
        "messages": [{"role": "user", "content": "Say something."}]
        """);

    private final String path;
    private final String body;

    Kind(String path, String fields) {
      this.path = path;
      this.body = "{" + fields + "}";
    }
  }

  @BeforeAll
  void open() {
    model = TestModels.smollm2Model();
    edgeModels = ScriptReplica.edgeModels(model);
  }

  @AfterAll
  void close() {
    http.close();
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void its_bytes_are_those_of_an_answer_without_a_loss(Kind kind) throws Exception {
    // Without prefixes, since the figures of what was found there are in the answer.
    try (ScriptMesh mesh = new ScriptMesh(ScriptMode.NO_PREFIX_CACHE, model, edgeModels)) {
      String name = "r0";
      start(mesh, name);
      FaultyDevice device = mesh.device(name);
      String unbroken = body(ask(mesh.address(), kind));
      int steps = device.steps();
      assertThat(steps).as(unbroken).isGreaterThan(5);
      for (int step = 0; step < steps; step++) {
        device.stallAfter(step);
        CompletableFuture<HttpResponse<String>> answer = ask(mesh.address(), kind);
        Eventually.holds(SOON, "Step " + step, device::stalled);
        String next = "r" + (step + 1);
        start(mesh, next);
        device.dieAfter(0);
        assertThat(body(answer)).as("killed at Step %d of %d", step, steps).isEqualTo(unbroken);
        mesh.stop(name);
        name = next;
        device = mesh.device(name);
      }
    }
  }

  private static void start(ScriptMesh mesh, String name) throws Exception {
    mesh.start(ScriptReplica.of(new Words(List.of(name))));
  }

  private CompletableFuture<HttpResponse<String>> ask(URI address, Kind kind) {
    HttpRequest request =
        HttpRequest.newBuilder(address.resolve(kind.path))
            .header("Authorization", "Bearer test-key-a")
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(kind.body))
            .build();
    return http.sendAsync(request, BodyHandlers.ofString());
  }

  private static String body(CompletableFuture<HttpResponse<String>> answer) throws Exception {
    HttpResponse<String> whole = answer.get(30, TimeUnit.SECONDS);
    assertThat(whole.statusCode()).as(whole.body()).isEqualTo(200);
    return OWN_TO_A_REQUEST.matcher(whole.body()).replaceAll("*");
  }
}
