package firstlight.model;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** Fetches one file from a web server. */
final class WebDownload {
  private static final Duration CONNECT_TIME_MAX = Duration.ofSeconds(20);
  private static final int OK = 200;

  private final URI uri;
  private final Path into;
  private final AtomicLong length = new AtomicLong();

  WebDownload(URI uri, Path into) {
    this.uri = uri;
    this.into = into;
  }

  void run(ModelStore.Progress progress) throws IOException, InterruptedException {
    HttpClient client =
        HttpClient.newBuilder()
            .connectTimeout(CONNECT_TIME_MAX)
            .followRedirects(HttpClient.Redirect.NORMAL)
            .build();
    // The client's own asynchronous calls end on the JVM's common pool, whose threads may all be
    // waiting for this very fetch.
    FutureTask<HttpResponse<Path>> answer =
        new FutureTask<>(() -> client.send(HttpRequest.newBuilder(uri).build(), this::body));
    Thread.ofVirtual().start(answer);
    try {
      int status = await(answer, new GrowthWatch(into, length::get, progress));
      if (status != OK) {
        throw new ModelStoreException(refused(status));
      }
    } finally {
      answer.cancel(true);
      client.shutdownNow();
    }
  }

  private HttpResponse.BodySubscriber<Path> body(HttpResponse.ResponseInfo info) {
    if (info.statusCode() != OK) {
      return HttpResponse.BodySubscribers.replacing(into);
    }
    length.set(info.headers().firstValueAsLong("content-length").orElse(0));
    return HttpResponse.BodySubscribers.ofFile(into);
  }

  private int await(Future<HttpResponse<Path>> answer, GrowthWatch watch)
      throws IOException, InterruptedException {
    while (true) {
      try {
        return answer.get(GrowthWatch.LOOK_MILLIS, TimeUnit.MILLISECONDS).statusCode();
      } catch (TimeoutException _) {
        watch.look(uri.getHost());
      } catch (ExecutionException e) {
        throw failed(e.getCause());
      }
    }
  }

  private RuntimeException failed(Throwable cause) {
    String text = String.valueOf(cause.getMessage());
    if (text.contains("No space left") || text.contains("quota")) {
      return ModelStoreException.full(into.getParent());
    }
    return new ModelStoreException(
        ("%s cannot be fetched: %s (%s). Check the network, or fetch the file by hand and name it"
                + " as a local file.")
            .formatted(uri, text, cause.getClass().getSimpleName()));
  }

  private String refused(int status) {
    return switch (status) {
      case 401, 403 ->
          ("%s may not be fetched without a key (status %d). Fetch the file by hand and name it as"
                  + " a local file.")
              .formatted(uri, status);
      case 404 -> "There is no file at %s (status 404). Check the model's source.".formatted(uri);
      default -> "%s answers with status %d. Try again later.".formatted(uri, status);
    };
  }
}
