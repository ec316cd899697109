package firstlight.app;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits until a node's own edge says that it has a replica for each of its models. */
final class Readiness {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(5);
  private static final long PAUSE_MILLIS = 50;

  private Readiness() {}

  /**
   * @param address of the edge, without a path
   * @throws StartFailure when that takes too long
   */
  static void await(String address) throws IOException, InterruptedException {
    long end = System.nanoTime() + LIMIT.toNanos();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address + "/health/ready"))
            .timeout(ANSWER_LIMIT)
            .GET()
            .build();
    try (HttpClient client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .sslContext(OwnNode.tls())
            .build()) {
      while (client.send(request, BodyHandlers.discarding()).statusCode() != 200) {
        if (System.nanoTime() > end) {
          throw new StartFailure(
              "the models were not ready within %d s".formatted(LIMIT.toSeconds()));
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    }
  }
}
