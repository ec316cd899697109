package firstlight.bench;

import firstlight.protocol.Time;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntConsumer;

/**
 * Sends streamed requests to a server and notes when each piece of the answers comes. One event
 * loop, so that it takes little of the processors it shares with the server; each running request
 * has a connection of its own.
 */
final class LoadClient implements AutoCloseable {
  private static final int CONNECTIONS_MAX = 16_384;
  private static final int EVENT_BYTES_MAX = 1 << 20;
  private static final int IDLE_SECONDS = 300;
  private static final int ATTEMPTS_MAX = 100;

  private final Vertx vertx;
  private final HttpClient http;
  private final Time time;
  private final int port;
  private final String model;

  /**
   * @param port of loopback where the server listens
   * @param model to ask for
   */
  LoadClient(int port, String model, Time time) {
    this.vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
    this.http =
        vertx.createHttpClient(
            // llama.cpp's server closes idle connections, at times just when one is used again.
            new HttpClientOptions().setIdleTimeout(IDLE_SECONDS).setKeepAlive(false),
            new PoolOptions().setHttp1MaxSize(CONNECTIONS_MAX));
    this.time = time;
    this.port = port;
    this.model = model;
  }

  /** For what else happens during a load: timers and retries. */
  Vertx vertx() {
    return vertx;
  }

  /** Never fails: what went wrong stands in the result. */
  Future<Answer> send(Ask ask) {
    return send(ask, _ -> {});
  }

  /**
   * As {@link #send(Ask)}.
   *
   * @param arrived told with each piece of text how many there were
   */
  Future<Answer> send(Ask ask, IntConsumer arrived) {
    Exchange exchange = new Exchange(arrived);
    RequestOptions options =
        new RequestOptions()
            .setMethod(HttpMethod.POST)
            .setHost("127.0.0.1")
            .setPort(port)
            .setURI("/v1/chat/completions")
            .putHeader("Content-Type", "application/json");
    if (!ask.key().isEmpty()) {
      options.putHeader("Authorization", "Bearer " + ask.key());
    }
    String body = ask.body(model);
    exchange.sent = time.nanos();
    return http.request(options)
        .compose(request -> sendBody(request, body))
        .compose(exchange::take)
        .recover(failure -> Future.succeededFuture(exchange.end(String.valueOf(failure))));
  }

  private static Future<HttpClientResponse> sendBody(HttpClientRequest request, String body) {
    return request.send(Buffer.buffer(body));
  }

  /** As {@link #send(Ask)}, but a client that is refused comes again when it was told to. */
  Future<Answer> sendPatiently(Ask ask) {
    return again(ask, time.nanos(), ATTEMPTS_MAX);
  }

  private Future<Answer> again(Ask ask, long first, int attempts) {
    return send(ask)
        .compose(
            answer ->
                answer.isRefused() && answer.retryAfterMillis() >= 0 && attempts > 1
                    ? vertx
                        .timer(Math.max(1, answer.retryAfterMillis()), TimeUnit.MILLISECONDS)
                        .compose(_ -> again(ask, first, attempts - 1))
                    : Future.succeededFuture(answer.askedAt(first)));
  }

  /** Waits for all. */
  static <T> List<T> await(List<Future<T>> futures, int seconds) {
    try {
      return Future.all(futures)
          .map(done -> done.<T>list())
          .toCompletionStage()
          .toCompletableFuture()
          .get(seconds, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchFailure("interrupted", e);
    } catch (TimeoutException e) {
      throw new BenchFailure("the server has not answered all within %d s".formatted(seconds), e);
    } catch (ExecutionException e) {
      throw new BenchFailure("the load failed: " + e.getCause(), e);
    }
  }

  @Override
  public void close() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  private final class Exchange {
    private final IntConsumer arrived;
    private final List<Long> arrivals = new ArrayList<>();
    private long sent;
    private int status;
    private long retryAfterMillis = -1;
    private int promptTokens = -1;
    private int completionTokens = -1;
    private String failure = "";

    Exchange(IntConsumer arrived) {
      this.arrived = arrived;
    }

    Future<Answer> take(HttpClientResponse response) {
      status = response.statusCode();
      retryAfterMillis = Retry.afterMillis(response.headers());
      if (status != 200) {
        return response.body().map(body -> end(status + ": " + body));
      }
      Promise<Answer> done = Promise.promise();
      long[] now = new long[1];
      SseParser parser = new SseParser(EVENT_BYTES_MAX, data -> note(data, now[0]));
      response.handler(
          piece -> {
            now[0] = time.nanos();
            try {
              parser.feed(piece.getBytes());
            } catch (IllegalStateException e) {
              response.request().reset();
              done.tryComplete(end(e.getMessage()));
            }
          });
      response.exceptionHandler(e -> done.tryComplete(end(String.valueOf(e))));
      response.endHandler(_ -> done.tryComplete(end("")));
      return done.future();
    }

    private void note(String data, long now) {
      ChatEvent event = ChatEvent.read(data);
      if (event.hasText()) {
        arrivals.add(now);
        arrived.accept(arrivals.size());
      }
      promptTokens = Math.max(promptTokens, event.promptTokens());
      completionTokens = Math.max(completionTokens, event.completionTokens());
      failure = failure.isEmpty() ? event.error() : failure;
      retryAfterMillis = Math.max(retryAfterMillis, event.retryAfterMillis());
    }

    Answer end(String why) {
      return new Answer(
          sent,
          status,
          retryAfterMillis,
          arrivals,
          time.nanos(),
          promptTokens,
          completionTokens,
          failure.isEmpty() ? why : failure);
    }
  }
}
