package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Time;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LoadClientTest {
  private static final int SECONDS = 30;
  private static final Ask ASK = Ask.of("be brief", "hello", 2).by("secret");

  private final Vertx vertx = Vertx.vertx();
  private final AtomicInteger requests = new AtomicInteger();
  private volatile boolean late;
  private LoadClient client;

  /** Refuses the first request of all, and serves the others. */
  @BeforeEach
  void start() {
    HttpServer server =
        vertx
            .createHttpServer()
            .requestHandler(this::answer)
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .join();
    client = new LoadClient(server.actualPort(), "m", Time.system());
  }

  @AfterEach
  void stop() {
    client.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private void answer(HttpServerRequest request) {
    if (!"Bearer secret".equals(request.getHeader("Authorization"))) {
      request.response().setStatusCode(401).end("who are you?");
    } else if (requests.getAndIncrement() == 0) {
      refuse(request.response());
    } else {
      request.response().setChunked(true);
      request
          .response()
          .write("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"cho")
          .compose(_ -> request.response().write("ices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"))
          .compose(
              _ ->
                  request
                      .response()
                      .end(
                          "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,"
                              + "\"completion_tokens\":2}}\n\ndata: [DONE]\n\n"));
    }
  }

  private void refuse(HttpServerResponse response) {
    if (late) {
      response.end(
          "data: {\"error\":{\"message\":\"full\",\"headers\":{\"retry-after-ms\":\"20\"}}}\n\n");
    } else {
      response.setStatusCode(503).putHeader("retry-after-ms", "20").end("full");
    }
  }

  private Answer send(Ask ask) {
    return LoadClient.await(List.of(client.send(ask)), SECONDS).getFirst();
  }

  @Test
  void a_refusal_tells_when_to_come_again() {
    Answer refused = send(ASK);
    assertThat(refused.isRefused()).isTrue();
    assertThat(refused.retryAfterMillis()).isEqualTo(20);
    assertThat(refused.failure()).contains("full");
  }

  @Test
  void so_does_a_refusal_in_a_stream_that_was_open_already() {
    late = true;
    a_refusal_tells_when_to_come_again();
  }

  @Test
  void pieces_and_usage_of_a_stream_are_noted() {
    send(ASK);
    List<Integer> told = new ArrayList<>();
    Answer answer = LoadClient.await(List.of(client.send(ASK, told::add)), SECONDS).getFirst();
    assertThat(answer.isServed()).isTrue();
    assertThat(told).containsExactly(1, 2);
    assertThat(answer.gaps()).hasSize(1);
    assertThat(answer.promptTokens()).isEqualTo(9);
    assertThat(answer.tokens()).isEqualTo(2);
    assertThat(answer.firstToken()).isPositive();
  }

  @Test
  void a_patient_client_comes_again_and_has_waited_since_it_came_first() {
    Answer answer = LoadClient.await(List.of(client.sendPatiently(ASK)), SECONDS).getFirst();
    assertThat(answer.isServed()).isTrue();
    assertThat(requests).hasValue(2);
    assertThat(answer.firstToken()).isGreaterThan(0.02);
  }

  @Test
  void an_open_loop_client_comes_again_once() {
    List<Visit> visits =
        LoadClient.await(
            new OpenLoop(client).start(new OpenLoop.Wave(List.of(0L), List.of(ASK), true)),
            SECONDS);
    assertThat(visits.getFirst().cameAgain()).isTrue();
    assertThat(visits.getFirst().last().isServed()).isTrue();
    assertThat(requests).hasValue(2);
  }

  @Test
  void an_open_loop_client_that_does_not_come_again_stays_refused() {
    List<Visit> visits =
        LoadClient.await(
            new OpenLoop(client).start(new OpenLoop.Wave(List.of(0L), List.of(ASK), false)),
            SECONDS);
    assertThat(visits.getFirst().last().isRefused()).isTrue();
    assertThat(requests).hasValue(1);
  }

  @Test
  void a_wrong_key_is_a_failure_and_no_refusal() {
    Answer answer = send(ASK.by("wrong"));
    assertThat(answer.isServed()).isFalse();
    assertThat(answer.isRefused()).isFalse();
    assertThat(answer.failure()).contains("who are you?");
  }
}
