package firstlight.gpu;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Threads that do the same at once, each with something of its own. The caller's, which must always
 * be the same, is the first of them. What has been begun is waited for, whatever happens.
 *
 * @param <T> what each has of its own
 */
final class RankThreads<T> {
  private final List<T> own;

  /** One for each rank but the first. */
  private final List<ExecutorService> others;

  RankThreads(int count, Supplier<T> maker) {
    own = IntStream.range(0, count).mapToObj(_ -> maker.get()).toList();
    others =
        IntStream.range(1, count)
            .mapToObj(
                rank ->
                    Executors.newSingleThreadExecutor(
                        Thread.ofPlatform().name("gpu-rank-" + rank).daemon().factory()))
            .toList();
  }

  /** What one of them has; not to be touched while they are at work. */
  T of(int rank) {
    return own.get(rank);
  }

  /** Work of one rank. */
  interface Work<T> {
    void run(int rank, T own);
  }

  void all(Work<T> work) {
    results(
        (rank, self) -> {
          work.run(rank, self);
          return rank;
        });
  }

  long least(ToLongFunction<T> measure) {
    return results((_, self) -> measure.applyAsLong(self)).stream()
        .mapToLong(Long::longValue)
        .min()
        .orElseThrow();
  }

  /** What the first one's work gives, when all have done theirs. */
  <R> R first(Function<T, R> work) {
    return results((_, self) -> work.apply(self)).getFirst();
  }

  /** Ends the threads, when each has done this. */
  void close(Consumer<T> last) {
    try {
      all((_, self) -> last.accept(self));
    } finally {
      others.forEach(ExecutorService::shutdown);
    }
  }

  private interface Giving<T, R> {
    R run(int rank, T own);
  }

  /**
   * @throws RuntimeException the first failure there was; the others are with it
   */
  private <R> List<R> results(Giving<T, R> work) {
    Failures failures = new Failures();
    List<Future<R>> begun = new ArrayList<>();
    for (int i = 0; i < others.size(); i++) {
      int rank = i + 1;
      begun.add(others.get(i).submit(() -> failures.watch(() -> work.run(rank, own.get(rank)))));
    }
    List<R> results = new ArrayList<>();
    results.add(failures.watch(() -> work.run(0, own.getFirst())));
    for (Future<R> each : begun) {
      results.add(result(each));
    }
    failures.rethrow();
    return results;
  }

  private static <R> R result(Future<R> future) {
    boolean wasInterrupted = false;
    try {
      while (true) {
        try {
          return future.get();
        } catch (InterruptedException _) {
          // Others still use what the caller would give back.
          wasInterrupted = true;
        } catch (ExecutionException e) {
          throw new IllegalStateException(e);
        }
      }
    } finally {
      if (wasInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Of one piece of work. */
  private static final class Failures {
    private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();

    /** Null after a failure. */
    <R> @Nullable R watch(Supplier<R> work) {
      try {
        return work.get();
      } catch (RuntimeException | Error e) {
        Throwable earlier = first.compareAndExchange(null, e);
        if (earlier != null && earlier != e) {
          earlier.addSuppressed(e);
        }
        return null;
      }
    }

    void rethrow() {
      switch (first.get()) {
        case null -> {}
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        case Throwable e -> throw new IllegalStateException(e);
      }
    }
  }
}
