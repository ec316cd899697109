package firstlight.app;

import static firstlight.app.Served.CHAT;
import static firstlight.app.Served.chat;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Field cases about clients that leave or are too heavy, and about the figures that show it. */
@ExtendWith(SharedFirstlight.class)
class LoadCasesIT {
  /** A Step of this model takes much less, a whole answer of those asked for much longer. */
  private static final Duration SOON = Duration.ofSeconds(5);

  /** The case says 500 ms; twice that leaves room for a busy machine of two cores. */
  private static final Duration HEALTH_GAP_MAX = Duration.ofSeconds(1);

  private final Served served;

  LoadCasesIT(Served served) {
    this.served = served;
  }

  private Wire open(ObjectNode body) throws Exception {
    String text = body.toString();
    return new Wire(served.address())
        .send(
            text,
            "POST /v1/chat/completions HTTP/1.1",
            "Host: localhost",
            "Authorization: Bearer test-key-a",
            "Content-Type: application/json",
            "Content-Length: " + text.getBytes(StandardCharsets.UTF_8).length);
  }

  private void running(int count) throws Exception {
    Eventually.holds(
        SOON,
        "running is " + count,
        () -> Figures.of(served.a()).sum("vllm:num_requests_running") == count);
  }

  private void idle() throws Exception {
    Eventually.holds(SOON, "everything is idle", () -> Figures.of(served.a()).idle());
  }

  /** B41. */
  @Test
  void a_client_that_leaves_ends_its_generation() throws Exception {
    ObjectNode endless = chat("Count from 1 to 100.", 4_000).put("ignore_eos", true);
    ObjectNode streamed = endless.deepCopy().put("stream", true);
    idle();
    for (boolean reset : new boolean[] {true, false}) {
      double before = Figures.of(served.a()).sum("firstlight:replica_generations_total");
      try (Wire stream = open(streamed);
          Wire plain = open(endless)) {
        stream.await("data: ");
        running(2);
        if (reset) {
          stream.reset();
          plain.reset();
        }
      }
      idle();
      served.control();
      Figures after = Figures.of(served.a());
      assertThat(after.sum("firstlight:replica_generations_total") - before).isEqualTo(3);
    }
  }

  /** B41: while the prompt is still computed. */
  @Test
  void a_client_that_leaves_during_prefill_ends_it() throws Exception {
    idle();
    double before = Figures.of(served.a()).sum("firstlight_device_tokens_total");
    try (Wire _ = open(chat("B41 " + "hello ".repeat(4_000), 5))) {
      running(1);
    }
    idle();
    served.control();
    assertThat(Figures.of(served.a()).sum("firstlight_device_tokens_total") - before)
        .as("tokens computed, of 4000")
        .isLessThan(3_000);
  }

  /** Looks at /health/live until told to stop; the longest time that an answer took. */
  private CompletableFuture<Duration> watch(AtomicBoolean stop) {
    return CompletableFuture.supplyAsync(
        () -> {
          long longest = 0;
          while (!stop.get()) {
            long start = System.nanoTime();
            try {
              assertThat(served.b().get("/health/live").status()).isEqualTo(200);
            } catch (Exception e) {
              throw new AssertionError(e);
            }
            longest = Math.max(longest, System.nanoTime() - start);
          }
          return Duration.ofNanos(longest);
        });
  }

  /** B49. */
  @Test
  void enormous_bodies_hold_nobody_up() throws Exception {
    String prose = "The quick brown fox jumps over the lazy dog, and back again. ";
    byte[] large = body(prose.repeat((5 << 20) / prose.length()));
    byte[] tooLarge = body(prose.repeat((17 << 20) / prose.length()));
    CompletableFuture<HttpResponse<Stream<String>>> stream =
        served
            .a()
            .http()
            .sendAsync(
                served.post(CHAT, endless().toString().getBytes(StandardCharsets.UTF_8)).build(),
                BodyHandlers.ofLines());
    AtomicBoolean stop = new AtomicBoolean();
    CompletableFuture<Duration> health = watch(stop);
    List<CompletableFuture<HttpResponse<String>>> heavy = new ArrayList<>();
    for (byte[] body : List.of(large, large, large, large, tooLarge)) {
      heavy.add(
          served.a().http().sendAsync(served.post(CHAT, body).build(), BodyHandlers.ofString()));
    }
    for (CompletableFuture<HttpResponse<String>> one : heavy) {
      assertThat(one.get().statusCode()).isEqualTo(one == heavy.getLast() ? 413 : 400);
    }
    stop.set(true);
    assertThat(health.get()).isLessThan(HEALTH_GAP_MAX);
    assertThat(longestGap(stream.get().body())).isLessThan(HEALTH_GAP_MAX);
    served.control();
    assertThat(served.log()).doesNotContain("has been blocked");
  }

  private static byte[] body(String text) {
    return chat(text, 1).toString().getBytes(StandardCharsets.UTF_8);
  }

  private static ObjectNode endless() {
    return chat("Count from 1 to 100.", 80).put("ignore_eos", true).put("stream", true);
  }

  private static Duration longestGap(Stream<String> lines) {
    long longest = 0;
    long last = 0;
    for (String line : (Iterable<String>) lines::iterator) {
      if (line.startsWith("data: {")) {
        long now = System.nanoTime();
        longest = last == 0 ? 0 : Math.max(longest, now - last);
        last = now;
      }
    }
    assertThat(last).as("when the last event came").isNotZero();
    return Duration.ofNanos(longest);
  }

  /** B69, with 16 streams instead of 64. */
  @Test
  void gauges_are_back_at_nothing_after_a_crowd_has_left() throws Exception {
    idle();
    Figures before = Figures.of(served.a());
    List<Wire> crowd = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      crowd.add(open(endless().put("max_tokens", 300)));
    }
    for (Wire one : crowd) {
      one.await("data: ");
    }
    assertThat(Figures.of(served.a()).idle()).isFalse();
    for (Wire one : crowd) {
      one.reset();
    }
    idle();
    served.crowd(CHAT, Collections.nCopies(3, chat("hello", 2)));
    served.refused(CHAT, chat("hello", 0), 400);
    Figures after = Figures.of(served.a());
    String ended = "firstlight:replica_generations_total";
    assertThat(after.sum(ended, "\"cancelled\"") - before.sum(ended, "\"cancelled\""))
        .isEqualTo(16);
    // Three of the crowd, and the control request.
    assertThat(after.sum(ended, "\"length\"") - before.sum(ended, "\"length\"")).isEqualTo(4);
    String requests = "firstlight_requests_total";
    assertThat(after.sum(requests) - before.sum(requests)).isEqualTo(20);
    String bad = "firstlight_http_requests_total";
    assertThat(after.sum(bad, "\"400\"") - before.sum(bad, "\"400\"")).isEqualTo(1);
    assertThat(after.series())
        .allSatisfy((name, value) -> assertThat(value).as(name).isNotNegative());
  }

  /** B69. */
  @Test
  void figures_are_well_formed_and_unknown_names_make_no_series() throws Exception {
    refuse("unknown \"b\\n{x}");
    Figures before = Figures.of(served.a());
    for (int i = 0; i < 100; i++) {
      refuse("unknown-" + i);
    }
    Figures after = Figures.of(served.a());
    assertThat(after.text()).doesNotContain("unknown-", "{x}");
    assertThat(edge(after)).hasSameSizeAs(edge(before));
    List<String> types = after.text().lines().filter(line -> line.startsWith("# TYPE ")).toList();
    assertThat(types.stream().map(line -> line.split(" ")[2])).doesNotHaveDuplicates();
    for (Map.Entry<String, Double> one : after.series().entrySet()) {
      if (one.getKey().contains("le=\"+Inf\"")) {
        String count = one.getKey().replace("_bucket{", "_count{");
        count = count.replaceAll(",?le=\"\\+Inf\"", "").replace("{}", "").replace("{,", "{");
        assertThat(after.series()).as(one.getKey()).containsEntry(count, one.getValue());
      }
    }
  }

  private void refuse(String model) throws Exception {
    ObjectNode body = chat("hi", 1).put("model", model).put("user", model);
    assertThat(served.raw(CHAT, body.toString()).statusCode()).isEqualTo(404);
  }

  private static List<String> edge(Figures figures) {
    return figures.series().keySet().stream()
        .filter(name -> name.startsWith("firstlight") || name.startsWith("vllm"))
        .toList();
  }
}
