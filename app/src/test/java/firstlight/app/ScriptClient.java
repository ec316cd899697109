package firstlight.app;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The clients of a script, each with a connection of its own. */
final class ScriptClient implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI address;
  private final Map<String, Talk> talks = new LinkedHashMap<>();
  private final AtomicInteger endings = new AtomicInteger();

  ScriptClient(URI address) {
    this.address = address;
  }

  /** Sends it; what comes back is noted in the chat. */
  ScriptChat send(ScriptChat.Request request) {
    Talk talk = new Talk(new ScriptChat(request));
    if (talks.putIfAbsent(request.name(), talk) != null) {
      throw new IllegalArgumentException("there is a chat " + request.name() + " already");
    }
    HttpRequest post =
        HttpRequest.newBuilder(address.resolve("/v1/chat/completions"))
            .timeout(LIMIT)
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer test-key-" + request.tenant())
            .POST(BodyPublishers.ofString(request.body().toString()))
            .build();
    talk.exchange = http.sendAsync(post, talk::head);
    return talk.chat;
  }

  ScriptChat chat(String name) {
    return talk(name).chat;
  }

  boolean has(String name) {
    return talks.containsKey(name);
  }

  Collection<ScriptChat> all() {
    return talks.values().stream().map(talk -> talk.chat).toList();
  }

  /** Whether nothing more comes. */
  boolean allOver() {
    return talks.values().stream().allMatch(talk -> talk.left || talk.chat.ended());
  }

  /** The client goes away. */
  void leave(String name) {
    talk(name).leave();
  }

  boolean left(String name) {
    return talk(name).left;
  }

  /** A slow client reads on. */
  void read(String name) {
    talk(name).read();
  }

  private Talk talk(String name) {
    Talk talk = talks.get(name);
    if (talk == null) {
      throw new IllegalArgumentException("there is no chat " + name);
    }
    return talk;
  }

  String metrics() throws Exception {
    HttpRequest get = HttpRequest.newBuilder(address.resolve("/metrics")).timeout(LIMIT).build();
    return http.send(get, BodyHandlers.ofString()).body();
  }

  /** One exchange, read line by line. */
  private final class Talk implements Flow.Subscriber<String> {
    private final ScriptChat chat;
    private @Nullable CompletableFuture<HttpResponse<Void>> exchange;
    private Flow.@Nullable Subscription lines;
    private boolean reading;
    private volatile boolean left;

    Talk(ScriptChat chat) {
      this.chat = chat;
      this.reading = !chat.request().slow();
    }

    HttpResponse.BodySubscriber<Void> head(HttpResponse.ResponseInfo info) {
      chat.head(
          info.statusCode(),
          ScriptChat.isRetryTime(
              info.headers().firstValue("Retry-After").orElse(""),
              info.headers().firstValue("retry-after-ms").orElse("")));
      return BodySubscribers.fromLineSubscriber(this);
    }

    @Override
    public synchronized void onSubscribe(Flow.Subscription subscription) {
      lines = subscription;
      if (reading) {
        subscription.request(Long.MAX_VALUE);
      }
    }

    @Override
    public void onNext(String line) {
      if (left) {
        return;
      }
      if (line.equals("data: [DONE]")) {
        chat.done(endings.incrementAndGet());
      } else if (line.startsWith("data: ")) {
        chat.body(Client.object(line.substring("data: ".length())));
      } else if (line.startsWith("{")) {
        chat.body(Client.object(line));
      }
      if (chat.tokens() >= chat.request().leavesAfter()) {
        leave();
      }
    }

    @Override
    public void onError(Throwable failure) {
      // A stream that breaks stays without its end, which is seen in the chat.
    }

    @Override
    public void onComplete() {
      chat.closed(endings.incrementAndGet());
    }

    synchronized void read() {
      reading = true;
      if (lines != null) {
        lines.request(Long.MAX_VALUE);
      }
    }

    synchronized void leave() {
      left = true;
      if (lines != null) {
        lines.cancel();
      }
      if (exchange != null) {
        exchange.cancel(true);
      }
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
