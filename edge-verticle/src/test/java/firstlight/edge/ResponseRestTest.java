package firstlight.edge;

import static firstlight.edge.ResponsesServer.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import io.vertx.core.Context;
import io.vertx.core.Promise;
import io.vertx.core.eventbus.MessageConsumer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of Responses that still run, read beside their own clients. */
@Timeout(60)
class ResponseRestTest {
  private static final String BODY = "{'model':'m','input':'hi','background':true}";
  private static final String STREAMED =
      "{'model':'m','input':'hi','background':true,'stream':true,'top_logprobs':1,"
          + "'include':['message.output_text.logprobs']}";
  private static final int EVENTS_OF_BEGINNING = 4;

  private ResponsesServer server;
  private ResponseSchemas schemas;

  @BeforeEach
  void start() {
    server = new ResponsesServer();
    schemas = ResponseSchemas.load();
    server.turns.parseWith(MarkedParser::new);
  }

  @AfterEach
  void stop() {
    server.turns.answerEndlessly(false);
    server.close();
  }

  @Test
  void what_was_is_told_again_and_then_what_comes_byte_for_byte_on_every_instance() {
    server.turns.answer("[", "hm", "]", "Hel", "lo é🦙 ", "<w|{\"a\":", "1}", ">");
    server.turns.answerSteadily();
    CompletableFuture<HttpResponse<String>> original = server.postLater(STREAMED);
    String path = pathOfRunning();
    eventually(() -> server.turns.last().sent > 40);

    CompletableFuture<HttpResponse<String>> here = later(server.port(), path, "");
    CompletableFuture<HttpResponse<String>> there = later(server.otherPort(), path, "");
    CompletableFuture<HttpResponse<String>> rest =
        later(server.otherPort(), path, "&starting_after=20");
    int sent = server.turns.last().sent;
    eventually(() -> server.turns.last().sent > sent + 40);
    server.turns.answerEndlessly(false);

    List<ObjectNode> events = server.events(original.join());
    events.forEach(schemas::checkEvent);
    assertThat(events.getLast().get("type").textValue()).isEqualTo("response.completed");
    assertThat(here.join().body()).isEqualTo(original.join().body());
    assertThat(here.join().headers().firstValue("content-type"))
        .isEqualTo(original.join().headers().firstValue("content-type"));
    assertThat(there.join().body()).isEqualTo(original.join().body());
    assertThat(server.events(rest.join())).isEqualTo(events.subList(21, events.size()));
    assertThat(server.get(path + "?stream=true").body()).isEqualTo(original.join().body());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void live_events_come_while_it_runs(boolean sameInstance) throws IOException {
    server.turns.answerSteadily();
    String path = path(server.create(BODY));
    eventually(() -> server.turns.started() == 1 && server.turns.last().sent > 5);
    int port = sameInstance ? server.port() : server.otherPort();
    try (Socket socket = asking(port, path)) {
      BufferedReader lines = lines(socket);
      int then = server.turns.last().sent;
      while (numberOf(lines) < then + 100) {
        assertThat(server.turns.last().over()).isFalse();
      }
    }
    assertThat(server.turns.last().cancels).isZero();
    cancel(path);
  }

  /** It has far more events than are kept, and nobody waits for who does not read. */
  @Test
  void one_that_reads_slowly_holds_nothing_up_and_gets_all() throws IOException {
    server.turns.answer("x".repeat(100));
    server.turns.answerEndlessly(true);
    // On a slow machine what is told of it would grow faster than it can be told.
    server.turns.atMost(40_000);
    String path = path(server.create(BODY));
    try (Socket socket = asking(server.otherPort(), path)) {
      BufferedReader lines = lines(socket);
      assertThat(numberOf(lines)).isZero();
      int then = server.turns.started();
      eventually(() -> server.turns.last().sent > 30_000);
      assertThat(then).isEqualTo(1);
      assertThat(server.turns.last().paused).isFalse();
      server.turns.answerEndlessly(false);
      long number = 0;
      long next = numberOf(lines);
      while (next >= 0) {
        assertThat(next).isEqualTo(number + 1);
        number = next;
        next = numberOf(lines);
      }
      assertThat(number).isGreaterThan(30_000);
    }
  }

  /** Pauses at each piece it is told. */
  private static final class Pausing implements ResponseRest.Listener {
    final AtomicInteger pieces = new AtomicInteger();
    volatile boolean done;
    ResponseRest rest;

    @Override
    public void events(List<ObjectNode> events) {
      if (!events.isEmpty()) {
        pieces.incrementAndGet();
        rest.pause();
      }
    }

    @Override
    public void done() {
      done = true;
    }

    @Override
    public void failed(MeshException failure, boolean begun) {
      throw failure;
    }
  }

  @Test
  void who_pauses_is_told_nothing_more_until_it_goes_on() {
    server.turns.answer("a", "b", "c", "d");
    String id = server.create("{'model':'m','input':'hi'}").get("id").textValue();
    Pausing reader = new Pausing();
    reader.rest = server.rest(new ResponseId(id), reader);
    Context loop = server.vertx.getOrCreateContext();
    loop.runOnContext(_ -> reader.rest.next());
    eventually(() -> reader.pieces.get() > 0);
    for (int told = 1; told == 1 || !reader.done; told++) {
      assertThat(reader.pieces).hasValue(told);
      Promise<Void> resumed = Promise.promise();
      loop.runOnContext(
          _ -> {
            reader.rest.resume();
            resumed.complete();
          });
      ResponsesServer.await(resumed.future());
    }
    assertThat(reader.pieces).hasValueGreaterThan(3);
  }

  /** A fake that tells one event of a Response and is gone then, as when its node has ended. */
  @Test
  void one_whose_server_is_gone_is_lost_and_not_unknown() {
    String id = "resp_" + "1".repeat(25);
    ObjectNode event = Json.object().put("type", "response.created").put("sequence_number", 0);
    MessageConsumer<String> gone =
        server.vertx.eventBus().consumer(ResponseBackground.EVENTS_ADDRESS + id);
    gone.handler(
        message -> {
          String piece = new ResponseTail.Piece(true, List.of(event), null, false).text();
          gone.unregister().onComplete(_ -> message.reply(piece));
        });
    ResponsesServer.await(gone.completion());

    List<ObjectNode> told = server.events(server.get("/v1/responses/" + id + "?stream=true"));

    assertThat(told).hasSize(2);
    assertThat(told.getLast().findValue("code").textValue()).isEqualTo("response_lost");
    assertThat(told.getLast().get("sequence_number").intValue()).isEqualTo(1);
  }

  @Test
  void whoever_reads_one_that_is_cancelled_is_told() {
    server.turns.answerSteadily();
    CompletableFuture<HttpResponse<String>> original = server.postLater(STREAMED);
    String path = pathOfRunning();
    CompletableFuture<HttpResponse<String>> reader = readerOf(path);

    ObjectNode cancelled = cancel(path);

    List<ObjectNode> events = server.events(original.join());
    events.forEach(schemas::checkEvent);
    assertThat(events.getLast().get("type").textValue()).isEqualTo("response.incomplete");
    assertThat(events.getLast().get("response")).isEqualTo(cancelled);
    assertThat(cancelled.get("status").textValue()).isEqualTo("cancelled");
    assertThat(reader.join().body()).isEqualTo(original.join().body());
  }

  @Test
  void whoever_reads_one_that_fails_is_told() {
    server.turns.answerSteadily();
    CompletableFuture<HttpResponse<String>> original = server.postLater(STREAMED);
    String path = pathOfRunning();
    CompletableFuture<HttpResponse<String>> reader = readerOf(path);

    server.turns.failWith(new MeshException(FailureKind.DEVICE_LOST, "device_lost", "Gone."));
    server.turns.answerEndlessly(false);

    assertThat(server.events(original.join()).getLast().get("type").textValue())
        .isEqualTo("response.failed");
    assertThat(reader.join().body()).isEqualTo(original.join().body());
  }

  @Test
  void one_that_has_not_begun_is_waited_for() {
    ObjectNode first = server.create("{'model':'m','input':'hi'}");
    server.session.mood(FakeSession.Mood.HOLDING);
    String path = path(server.create(after(first)));
    CompletableFuture<HttpResponse<String>> reader = later(server.otherPort(), path, "");
    eventually(() -> server.session.heldAnswers() == 1);
    assertThat(reader.isDone()).isFalse();
    server.session.mood(FakeSession.Mood.WILLING);
    server.session.release();
    List<ObjectNode> events = server.events(reader.join());
    assertThat(events).hasSize(10);
    assertThat(events.getFirst().get("type").textValue()).isEqualTo("response.created");
  }

  @Test
  void a_number_that_has_not_come_yet_is_waited_for() {
    server.turns.answerSteadily();
    String path = path(server.create(BODY));
    eventually(() -> server.turns.started() == 1);
    CompletableFuture<HttpResponse<String>> some =
        later(server.port(), path, "&starting_after=500");
    CompletableFuture<HttpResponse<String>> none =
        later(server.otherPort(), path, "&starting_after=100000");
    eventually(() -> server.turns.last().sent > 600);
    server.turns.answerEndlessly(false);

    assertThat(server.events(some.join()).getFirst().get("sequence_number").intValue())
        .isEqualTo(501);
    assertThat(none.join().body()).isEqualTo("data: [DONE]\n\n");
  }

  @Test
  void another_tenants_does_not_exist() {
    server.turns.answerSteadily();
    String path = path(server.create(BODY));
    for (String query : List.of("", "&starting_after=5")) {
      HttpResponse<String> answer = server.get(path + "?stream=true" + query, "tenant", "b");
      assertThat(answer.statusCode()).isEqualTo(404);
      assertThat(code(answer)).isEqualTo("response_not_found");
    }
    cancel(path);
  }

  /** What was told when it ended stays for a while, for those who were reading. */
  @Test
  void a_reader_far_behind_gets_the_end_of_a_failed_one_too() {
    server.turns.answer("a", "b");
    server.turns.answerSteadily();
    CompletableFuture<HttpResponse<String>> original = server.postLater(STREAMED);
    String path = pathOfRunning();
    CompletableFuture<HttpResponse<String>> early = later(server.port(), path, "&starting_after=2");
    eventually(() -> server.turns.last().sent > 3 * ResponseTail.EVENTS_MAX);
    server.turns.failWith(new MeshException(FailureKind.DEVICE_LOST, "device_lost", "Gone."));
    server.turns.answerEndlessly(false);
    List<ObjectNode> events = server.events(original.join());

    CompletableFuture<HttpResponse<String>> late =
        later(server.otherPort(), path, "&starting_after=2");

    assertThat(server.events(early.join())).isEqualTo(events.subList(3, events.size()));
    assertThat(late.join().body()).isEqualTo(early.join().body());
  }

  private static String after(ObjectNode first) {
    return "{'model':'m','input':'x','background':true,'previous_response_id':%s}"
        .formatted(first.get("id"));
  }

  /** That of the only Response, whose client has not heard its id. */
  private String pathOfRunning() {
    eventually(() -> server.turns.started() == 1);
    eventually(() -> server.turns.last().sent > EVENTS_OF_BEGINNING);
    return "/v1/responses/" + server.turns.last().request().response().value();
  }

  private CompletableFuture<HttpResponse<String>> later(int port, String path, String query) {
    return server.getLater(port, path + "?stream=true" + query);
  }

  /** Of another instance, while it runs on. */
  private CompletableFuture<HttpResponse<String>> readerOf(String path) {
    CompletableFuture<HttpResponse<String>> reader = later(server.otherPort(), path, "");
    int sent = server.turns.last().sent;
    eventually(() -> server.turns.last().sent > sent + 100);
    return reader;
  }

  private ObjectNode cancel(String path) {
    return server.object(server.postTo(path + "/cancel", ""));
  }

  private String code(HttpResponse<String> answer) {
    return server.object(answer).at("/error/code").textValue();
  }

  private static String path(ObjectNode response) {
    return "/v1/responses/" + response.get("id").textValue();
  }

  private static Socket asking(int port, String path) throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(4_096);
    socket.setSoTimeout(30_000);
    socket.connect(new InetSocketAddress("127.0.0.1", port));
    socket
        .getOutputStream()
        .write(
            "GET %s?stream=true HTTP/1.1\r\nHost: x\r\n\r\n"
                .formatted(path)
                .getBytes(StandardCharsets.UTF_8));
    return socket;
  }

  private static BufferedReader lines(Socket socket) throws IOException {
    return new BufferedReader(
        new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Of the next event; -1 when there are no more. */
  private long numberOf(BufferedReader lines) throws IOException {
    List<String> seen = new ArrayList<>();
    while (true) {
      String line = lines.readLine();
      seen.add(line);
      if (line == null || line.equals("data: [DONE]")) {
        assertThat(line).as("after %s", seen).isNotNull();
        return -1;
      }
      if (line.startsWith("data: {")) {
        return Json.own(line.substring("data: ".length())).get("sequence_number").longValue();
      }
    }
  }
}
