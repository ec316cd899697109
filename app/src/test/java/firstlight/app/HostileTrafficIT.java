package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/**
 * Whatever comes over HTTP and WebSockets, the answer is never a failure of the server, others are
 * served as before right after it, and nothing is left behind. {@code -DhostileSeconds=3600} takes
 * an hour's worth; what is sent as input I follows from {@code -DhostileSeed} and I alone, so
 * {@code -DhostileFrom=I -Dhostile=1} sends it again.
 */
class HostileTrafficIT {
  private static final long SEED = Long.getLong("hostileSeed", 1);
  private static final int FROM = Integer.getInteger("hostileFrom", 0);
  private static final int INPUTS = Integer.getInteger("hostile", Integer.MAX_VALUE);
  private static final Duration TIME = Duration.ofSeconds(Long.getLong("hostileSeconds", 40));
  private static final int LOOK_EVERY = 50;
  private static final int ABREAST = 16;
  private static final long SEED_STEP = 0x9E3779B97F4A7C15L;

  /** Small limits, so that they are met, and answers that end soon. */
  private static final String CONFIGURATION =
      """
      node:
        embedded: true
        data: %s
      gpu:
        kvMemory: 128MiB
      models:
        smollm2-135m:
          default: true
          contextMax: 512
          outputMax: 24
      edge:
        host: 127.0.0.1
        port: 0
        open: false
        tenants:
          a:
            key: test-key-a
        limits:
          bodyBytesMax: 256KiB
          bodiesBytesMax: 1MiB
        times:
          bodyTimeout: 1s
          keepAlive: 1s
          stallTimeout: 2s
      """;

  @Test
  void nothing_that_comes_makes_the_server_fail_or_keep_anything() throws Exception {
    Path data = FirstlightProcess.freshFolder("hostile");
    Path file = data.resolve("hostile.yaml");
    Files.writeString(file, CONFIGURATION.formatted(data.toAbsolutePath()));
    try (Served served =
        new Served(FirstlightProcess.start("up", "--config", file.toAbsolutePath().toString()))) {
      served.control();
      HostileRoutes routes = routes(served);
      for (HostileRoutes.Route good : routes.withBody()) {
        HttpResponse<String> answer = served.raw(good.path(), good.body().toString());
        assertThat(answer.statusCode()).as("%s: %s", good, answer.body()).isBetween(200, 299);
      }
      send(served, routes);
      assertThat(served.log().lines().filter(HostileTrafficIT::isMistake).toList()).isEmpty();
    }
  }

  /** Vert.x 5.0.7 complains of itself when a WebSocket goes with messages in its queue. */
  private static boolean isMistake(String line) {
    return line.contains(" ERROR ") && !line.contains(" ConnectionBase ");
  }

  private static void send(Served served, HostileRoutes routes) throws Exception {
    TreeMap<String, Integer> kinds = new TreeMap<>();
    long end = System.nanoTime() + TIME.toNanos();
    int looked = FROM;
    int input = FROM;
    try (HostileLeftovers left = new HostileLeftovers()) {
      while (input - FROM < INPUTS && System.nanoTime() < end) {
        kinds.merge(send(served, routes, left, input), 1, Integer::sum);
        served.control();
        input++;
        if ((input - FROM) % LOOK_EVERY == 0) {
          atOnce(served, routes, left, Math.max(looked, input - ABREAST), input);
          nothingIsLeft(served, left);
          looked = input;
        }
      }
      atOnce(served, routes, left, Math.max(looked, input - ABREAST), input);
      nothingIsLeft(served, left);
    } catch (Exception | AssertionError e) {
      String repeat =
          "mvn verify -Dit.test=%s -DhostileSeed=%d -DhostileFrom=%d -Dhostile=%d"
              .formatted(HostileTrafficIT.class.getSimpleName(), SEED, looked, input - looked + 1);
      throw new AssertionError(
          "input %d, or one just before it; %s%n%s".formatted(input, repeat, served.log()), e);
    }
    System.out.printf("%d hostile inputs: %s%n", input - FROM, kinds);
  }

  /** Sends one of them, and says what kind it was. */
  private static String send(Served served, HostileRoutes routes, HostileLeftovers left, int input)
      throws Exception {
    SplittableRandom random = new SplittableRandom(SEED * SEED_STEP + input);
    HostileInput hostile =
        random.nextInt(3) == 0
            ? new HostileSocket(served.address(), routes, random)
            : new HostileRequest(served.address(), routes, left, random);
    try {
      hostile.send();
    } catch (Exception | AssertionError e) {
      throw new AssertionError(hostile.toString(), e);
    }
    return hostile.kind();
  }

  /** Some of them again, and all of these together. */
  private static void atOnce(
      Served served, HostileRoutes routes, HostileLeftovers left, int from, int to)
      throws Exception {
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      List<Future<String>> sent = new ArrayList<>();
      for (int input = from; input < to; input++) {
        int one = input;
        sent.add(threads.submit(() -> send(served, routes, left, one)));
      }
      for (Future<String> one : sent) {
        one.get();
      }
    }
    served.control();
  }

  /** Those that are good, with a conversation and a Response that are there. */
  private static HostileRoutes routes(Served served) throws Exception {
    JsonNode conversation = Served.good(served.a().send("/v1/conversations", Client.object("{}")));
    ObjectNode ask =
        Client.object(
            """
            {"model":"smollm2-135m","input":"hello","max_output_tokens":4}\
            """);
    JsonNode response = served.ok("/v1/responses", ask);
    return new HostileRoutes(conversation.get("id").asText(), response.get("id").asText());
  }

  private static void nothingIsLeft(Served served, HostileLeftovers left) throws Exception {
    left.close();
    List<String> empty =
        List.of(
            "vllm:num_requests_running",
            "vllm:num_requests_waiting",
            "vllm:kv_cache_usage_perc",
            "firstlight:replica_waiting_tokens",
            "firstlight:replica_booked_returns",
            "firstlight_edge_requests_running",
            "firstlight_edge_generations",
            "firstlight_edge_websockets",
            "firstlight_edge_body_bytes");
    for (String gauge : empty) {
      Eventually.holds(
          Duration.ofSeconds(10), gauge + " is 0", () -> Figures.of(served.a()).only(gauge) == 0);
    }
    // The one that asks for the figures.
    Eventually.holds(
        Duration.ofSeconds(10),
        "one connection",
        () -> Figures.of(served.a()).only("firstlight_edge_connections") == 1);
  }
}
