package firstlight.bench;

import firstlight.model.Model;
import firstlight.protocol.Time;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** A running server of ours under clients that do not wait for each other. */
final class OpenLoad implements AutoCloseable {
  private static final int SYSTEM_TOKENS = 20;
  private static final int USER_TOKENS = 180;
  private static final int ANSWER_TOKENS = 64;
  private static final int CLOSED_CLIENTS = 32;

  /** After the last client has come, until all have ended. */
  private static final int DRAIN_SECONDS = 300;

  private final RunningServer running;
  private final LoadClient client;
  private final Prompts prompts;
  private final Time time;
  private final SplittableRandom random;

  OpenLoad(Server server, Model model, long seed, Time time) {
    this.random = new SplittableRandom(seed);
    this.prompts = new Prompts(model.tokenizer(), random.split());
    this.time = time;
    this.running = RunningServer.start(server, time);
    this.client = new LoadClient(server.port(), server.model(), time);
  }

  /** A request of about 200 tokens for 64, unlike all others. */
  Ask ask() {
    return Ask.of(prompts.text(SYSTEM_TOKENS), prompts.text(USER_TOKENS), ANSWER_TOKENS);
  }

  /**
   * Requests per second that are served when there are always some. It is measured once every
   * client has had an answer.
   */
  double capacity(int seconds, Supplier<Ask> asks) {
    AtomicInteger waiting = new AtomicInteger(CLOSED_CLIENTS);
    AtomicLong from = new AtomicLong(Long.MAX_VALUE);
    BooleanSupplier isOver =
        () -> waiting.get() == 0 && time.nanos() - from.get() >= TimeUnit.SECONDS.toNanos(seconds);
    List<Future<List<Answer>>> clients = new ArrayList<>();
    for (int i = 0; i < CLOSED_CLIENTS; i++) {
      Future<Answer> first =
          client
              .sendPatiently(asks.get())
              .onSuccess(
                  _ -> {
                    if (waiting.decrementAndGet() == 0) {
                      from.set(time.nanos());
                    }
                  });
      clients.add(first.compose(answer -> until(isOver, asks, new ArrayList<>(List.of(answer)))));
    }
    List<Answer> answers =
        LoadClient.await(clients, seconds + DRAIN_SECONDS).stream().flatMap(List::stream).toList();
    long to = from.get() + TimeUnit.SECONDS.toNanos(seconds);
    double tokens =
        answers.stream().mapToDouble(answer -> answer.tokensBetween(from.get(), to)).sum();
    if (tokens == 0) {
      throw new BenchFailure(
          "no request was served while the capacity was measured; one of %d met with: %d %s"
              .formatted(
                  answers.size(), answers.getFirst().status(), answers.getFirst().failure()));
    }
    return tokens / ANSWER_TOKENS / seconds;
  }

  private Future<List<Answer>> until(
      BooleanSupplier isOver, Supplier<Ask> asks, List<Answer> answers) {
    return isOver.getAsBoolean()
        ? Future.succeededFuture(answers)
        : client
            .sendPatiently(asks.get())
            .compose(
                answer -> {
                  answers.add(answer);
                  return until(isOver, asks, answers);
                });
  }

  /** Clients that come at that rate; making their requests takes a while. */
  OpenLoop.Wave wave(double perSecond, int seconds, Supplier<Ask> asks, boolean comesAgain) {
    List<Long> arrivals = Arrivals.of(perSecond, seconds, random.split());
    return new OpenLoop.Wave(
        arrivals, Stream.generate(asks).limit(arrivals.size()).toList(), comesAgain);
  }

  /**
   * Lets waves come at the same time, and waits until all have gone; figures of each.
   *
   * @param seconds in which they come
   * @param backlogSeconds in which those that are told to come again may all be served
   */
  List<OpenLoopFigures> run(List<OpenLoop.Wave> waves, int seconds, int backlogSeconds) {
    int limit = seconds + backlogSeconds + DRAIN_SECONDS;
    OpenLoop loop = new OpenLoop(client);
    long start = time.nanos();
    List<List<Future<Visit>>> running = waves.stream().map(loop::start).toList();
    return running.stream()
        .map(visits -> LoadClient.await(visits, limit))
        .map(visits -> new OpenLoopFigures(visits, start, seconds))
        .toList();
  }

  @Override
  public void close() {
    client.close();
    running.close();
  }
}
