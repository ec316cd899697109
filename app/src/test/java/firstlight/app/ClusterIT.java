package firstlight.app;

import static firstlight.app.Client.object;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.app.Client.Streamed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Three JVMs by role: an edge with a session, and two replicas. Field case B60: nobody waits for a
 * node that is dead.
 */
class ClusterIT {
  private static final int REQUESTS = 200;
  private static final int STREAMS = 16;
  private static final int TOKENS = 200;
  private static final Pattern REPLICAS = Pattern.compile("firstlight_edge_replicas\\S* (\\d+)");

  private final List<FirstlightProcess> started = new ArrayList<>();
  private Path folder;
  private Path config;

  private void configure() throws IOException {
    folder = FirstlightProcess.freshFolder("cluster");
    String hazelcast = Files.readString(Sources.root().resolve("cluster.xml"));
    Path file =
        Files.writeString(
            folder.resolve("cluster.xml"),
            hazelcast.replace(
                "<cluster-name>firstlight<",
                "<cluster-name>test-%d<".formatted(ProcessHandle.current().pid())));
    config =
        Files.writeString(
            folder.resolve("conf.yaml"),
            """
            node: {embedded: true}
            cluster: {enabled: true, file: %s}
            models: {smollm2-135m: {default: true}}
            edge: {port: 0, open: true}
            gpu: {threads: 1}
            batcher: {firstTokenMax: 2m}
            """
                .formatted(file));
  }

  private FirstlightProcess node(String roles) throws IOException {
    FirstlightProcess process =
        FirstlightProcess.start(
            "up",
            "--config",
            config.toString(),
            "--roles",
            roles,
            "--data",
            folder.resolve("data" + started.size()).toString());
    started.add(process);
    return process;
  }

  private static ObjectNode story(int i, int tokens) {
    return object("{\"model\":\"smollm2-135m\",\"stream\":true,\"ignore_eos\":true}")
        .put("prompt", "Story number %d: once upon a time".formatted(i))
        .put("max_tokens", tokens)
        .put("seed", i);
  }

  private static boolean finished(Streamed streamed) {
    return streamed.done()
        && streamed.events().stream()
            .anyMatch(event -> !event.at("/choices/0/finish_reason").asText("").isEmpty());
  }

  private static void awaitReplicas(Client client, int wanted) throws Exception {
    Eventually.holds(
        Duration.ofSeconds(60), wanted + " replicas known", () -> replicas(client) == wanted);
  }

  private static long replicas(Client client) throws Exception {
    Matcher matcher = REPLICAS.matcher(client.text("/metrics"));
    return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
  }

  @Test
  void requests_flow_over_both_replicas_and_the_loss_of_one_loses_no_stream() throws Exception {
    configure();
    try {
      FirstlightProcess front = node("edge,session,feedback");
      FirstlightProcess first = node("gpu,batcher");
      FirstlightProcess second = node("gpu,batcher");
      try (Client client = new Client(front.address(), "")) {
        first.address();
        second.address();
        awaitReplicas(client, 2);
        spread(client);
        lose(client, second);
        awaitReplicas(client, 1);
        assertThat(finished(client.stream("/v1/completions", story(1, 4)))).isTrue();
        node("gpu,batcher").address();
        awaitReplicas(client, 2);
      }
    } finally {
      for (FirstlightProcess process : started) {
        process.close();
      }
    }
  }

  private void spread(Client client) throws Exception {
    List<CompletableFuture<Streamed>> streams = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      streams.add(client.streamLater("/v1/completions", story(i, 4)));
    }
    for (CompletableFuture<Streamed> stream : streams) {
      Streamed streamed = stream.get(2, TimeUnit.MINUTES);
      assertThat(finished(streamed)).as(streamed.toString()).isTrue();
    }
    assertThat(served(client)).as("requests by replica").hasSize(2);
  }

  /** The replicas that have served anything, by the edge's own count. */
  private static Set<String> served(Client client) throws Exception {
    Set<String> replicas = new HashSet<>();
    Matcher matcher =
        Pattern.compile("firstlight_edge_placements_total\\{[^}]*replica=\"([^\"]+)\"")
            .matcher(client.text("/metrics"));
    while (matcher.find()) {
      replicas.add(matcher.group(1));
    }
    return replicas;
  }

  private void lose(Client client, FirstlightProcess victim) throws Exception {
    List<CompletableFuture<Streamed>> streams = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      streams.add(client.streamLater("/v1/completions", story(i, TOKENS)));
    }
    Eventually.holds(
        Duration.ofSeconds(30),
        "all streams run",
        () -> client.text("/metrics").contains("firstlight_edge_generations " + STREAMS));
    victim.kill();
    List<String> texts = new ArrayList<>();
    for (CompletableFuture<Streamed> stream : streams) {
      Streamed streamed = stream.get(2, TimeUnit.MINUTES);
      assertThat(finished(streamed)).as(streamed.toString()).isTrue();
      texts.add(text(streamed));
    }
    double moves = figure(client, "firstlight_edge_moves_total");
    assertThat(moves).isBetween(1.0, STREAMS - 1.0);
    System.out.printf(
        "replica killed: %.0f of %d streams went on elsewhere, after at most %.0f ms%n",
        moves, STREAMS, 1_000 * figure(client, "firstlight_edge_move_pause_seconds_max"));
    for (int i = 0; i < STREAMS; i += 5) {
      assertThat(text(client.stream("/v1/completions", story(i, TOKENS)))).isEqualTo(texts.get(i));
    }
  }

  private static String text(Streamed streamed) {
    return streamed.events().stream()
        .map(event -> event.at("/choices/0/text").asText(""))
        .collect(Collectors.joining());
  }

  private static double figure(Client client, String name) throws Exception {
    return client
        .text("/metrics")
        .lines()
        .filter(line -> line.startsWith(name))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .max()
        .orElse(0);
  }
}
