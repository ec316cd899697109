package firstlight.app;

import static firstlight.app.Client.object;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Answer;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A running Firstlight, and what the field cases ask of it again and again. */
final class Served implements AutoCloseable {
  static final String CHAT = "/v1/chat/completions";
  static final String COMPLETIONS = "/v1/completions";
  static final String MESSAGES = "/v1/messages";
  static final String RESPONSES = "/v1/responses";
  static final String SMOLLM2 = "smollm2-135m";
  static final String GEMMA3 = "gemma3-270m";
  static final String GEMMA3_CHAT = "gemma3-chat";

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final FirstlightProcess process;
  private final URI address;
  private final Client a;
  private final Client b;

  Served(FirstlightProcess process) throws Exception {
    this.process = process;
    this.address = process.address();
    this.a = new Client(address, "test-key-a");
    this.b = new Client(address, "test-key-b");
  }

  /** The client of tenant a, who asks unless a test says otherwise. */
  Client a() {
    return a;
  }

  Client b() {
    return b;
  }

  URI address() {
    return address;
  }

  String log() {
    return process.output();
  }

  static ObjectNode message(String role, String content) {
    return object("{}").put("role", role).put("content", content);
  }

  /** A greedy chat with the small model. */
  static ObjectNode chat(int tokens, ObjectNode... messages) {
    ObjectNode body = object("{}").put("model", SMOLLM2).put("temperature", 0);
    body.putArray("messages").addAll(List.of(messages));
    return body.put("max_tokens", tokens);
  }

  static ObjectNode chat(String text, int tokens) {
    return chat(tokens, message("user", text));
  }

  /** A greedy completion. */
  static ObjectNode completion(String model, String prompt, int tokens) {
    return object("{}")
        .put("model", model)
        .put("prompt", prompt)
        .put("max_tokens", tokens)
        .put("temperature", 0);
  }

  /** A greedy chat that is held to a JSON Schema. */
  static ObjectNode held(String text, int tokens, String schema) {
    ObjectNode body = chat(text, tokens);
    ObjectNode format = body.putObject("response_format").put("type", "json_schema");
    format.set("json_schema", object("{\"name\":\"v\",\"strict\":true,\"schema\":" + schema + "}"));
    return body;
  }

  static String text(JsonNode answer) {
    JsonNode choice = answer.at("/choices/0");
    return choice.has("text")
        ? choice.get("text").asText()
        : choice.at("/message/content").asText();
  }

  static String reason(JsonNode answer) {
    return answer.at("/choices/0/finish_reason").asText();
  }

  static List<Integer> ids(JsonNode list) {
    List<Integer> ids = new ArrayList<>();
    list.forEach(id -> ids.add(id.asInt()));
    return ids;
  }

  /** The answer to a request that must be answered. */
  JsonNode ok(String path, ObjectNode body) throws Exception {
    return good(a.send(path, body));
  }

  static JsonNode good(Answer answer) {
    assertThat(answer.status()).as("%s", answer.body()).isEqualTo(200);
    return answer.body();
  }

  /** All at the same time, answers in their order. */
  List<JsonNode> crowd(String path, List<ObjectNode> bodies) throws Exception {
    List<CompletableFuture<Answer>> later =
        bodies.stream().map(body -> a.sendLater(path, body)).toList();
    List<JsonNode> answers = new ArrayList<>();
    for (CompletableFuture<Answer> answer : later) {
      answers.add(good(answer.get()));
    }
    return answers;
  }

  int promptTokens(ObjectNode body) throws Exception {
    String path = body.has("messages") ? CHAT : COMPLETIONS;
    return ok(path, body).at("/usage/prompt_tokens").asInt();
  }

  /** The bytes of a stream, whatever they are. */
  Sse stream(String path, ObjectNode body) throws Exception {
    return streamLater(path, body).get();
  }

  CompletableFuture<Sse> streamLater(String path, ObjectNode body) {
    byte[] bytes = body.deepCopy().put("stream", true).toString().getBytes(StandardCharsets.UTF_8);
    return a.http()
        .sendAsync(post(path, bytes).build(), BodyHandlers.ofByteArray())
        .thenApply(Sse::of);
  }

  /** A request of tenant a with any bytes as its JSON. */
  HttpRequest.Builder post(String path, byte[] body) {
    return HttpRequest.newBuilder(address.resolve(path))
        .timeout(LIMIT)
        .header("Authorization", "Bearer test-key-a")
        .header("Content-Type", "application/json")
        .POST(BodyPublishers.ofByteArray(body));
  }

  HttpResponse<String> send(HttpRequest request) throws Exception {
    return a.http().send(request, BodyHandlers.ofString());
  }

  HttpResponse<String> raw(String path, String body) throws Exception {
    return send(post(path, body.getBytes(StandardCharsets.UTF_8)).build());
  }

  /** Sends what must be refused, looks whether the others are still served, and gives the error. */
  JsonNode refused(String path, String body, int status) throws Exception {
    HttpResponse<String> response = raw(path, body);
    String shown = body.substring(0, Math.min(200, body.length()));
    assertThat(response.statusCode()).as("%s: %s", shown, response.body()).isEqualTo(status);
    assertThat(response.headers().firstValue("content-type").orElse("")).contains("json");
    control();
    JsonNode error = Client.JSON.readTree(response.body()).path("error");
    assertThat(error.path("message").asText()).as("the message for %s", shown).isNotEmpty();
    return error;
  }

  JsonNode refused(String path, ObjectNode body, int status) throws Exception {
    return refused(path, body.toString(), status);
  }

  /** The control request of the cases: after a hostile input others are served as before. */
  void control() throws Exception {
    JsonNode answer = good(a.sendLater(CHAT, chat("hello", 1)).get(5, TimeUnit.SECONDS));
    assertThat(text(answer)).isEqualTo("Hello");
    assertThat(reason(answer)).isEqualTo("length");
    assertThat(answer.at("/usage/prompt_tokens").asInt()).isEqualTo(31);
    assertThat(answer.at("/usage/completion_tokens").asInt()).isEqualTo(1);
    assertThat(answer.at("/usage/total_tokens").asInt()).isEqualTo(32);
  }

  @Override
  public void close() {
    a.close();
    b.close();
    process.close();
  }
}
