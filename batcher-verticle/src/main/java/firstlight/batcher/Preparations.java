package firstlight.batcher;

import firstlight.model.Constraint;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import firstlight.protocol.Usage;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Generations whose constraints are being compiled, on worker threads, before the scheduler hears
 * of them; those that ask for the same wait for one compilation. What is said of one meanwhile is
 * kept for it.
 */
final class Preparations {
  private final Vertx vertx;
  private final Map<GenerationId, Pending> pending = new HashMap<>();
  private final Map<Compilation, Promise<Constraint>> compiling = new HashMap<>();

  private record Compilation(Constraints constraints, String grammar) {}

  /** One that is not ready. */
  static final class Pending {
    final GenerationSpec spec;
    private long credit;
    boolean held;

    private Pending(GenerationSpec spec, int credit) {
      this.spec = spec;
      this.credit = credit;
    }

    int credit() {
      return (int) Math.min(credit, Integer.MAX_VALUE);
    }
  }

  /** Who goes on with it. */
  interface Listener extends Consumer<Pending> {
    void failed(GenerationSpec spec, MeshException failure);
  }

  Preparations(Vertx vertx) {
    this.vertx = vertx;
  }

  /** Whether there is anything to do before it can be scheduled. */
  static boolean needed(GenerationSpec spec, Constraints constraints) {
    return spec.isConstrained() && constraints.find(spec.constraint()) == null;
  }

  /** The listener hears of it later, unless it is cancelled before. */
  void begin(GenerationSpec spec, int credit, Constraints constraints, Listener listener) {
    Pending begun = new Pending(spec, credit);
    pending.put(spec.id(), begun);
    compiled(new Compilation(constraints, spec.constraint()))
        .onComplete(
            done -> {
              if (!pending.remove(spec.id(), begun)) {
                return;
              }
              if (done.succeeded()) {
                listener.accept(begun);
              } else {
                listener.failed(spec, MeshException.fromReply(done.cause()));
              }
            });
  }

  private Future<Constraint> compiled(Compilation what) {
    Promise<Constraint> running = compiling.get(what);
    if (running == null) {
      running = Promise.promise();
      compiling.put(what, running);
      Promise<Constraint> begun = running;
      Context context = vertx.getOrCreateContext();
      // A worker's future counts as done before this thread hears of it, and what comes in between
      // would go on at once and not find the constraint. The promise is kept when it is there.
      vertx
          .executeBlocking(() -> what.constraints.compile(what.grammar), false)
          .onComplete(done -> context.runOnContext(_ -> compiled(what, done, begun)));
    }
    return running.future();
  }

  private void compiled(
      Compilation what, AsyncResult<Constraint> done, Promise<Constraint> promise) {
    compiling.remove(what);
    if (done.succeeded()) {
      what.constraints.keep(what.grammar, done.result());
    }
    promise.handle(done);
  }

  /** What it has cost, if it was one of these. */
  Optional<Usage> cancel(GenerationId generation) {
    return Optional.ofNullable(pending.remove(generation))
        .map(was -> new Usage(was.spec.prompt().length, 0, was.spec.known().length));
  }

  /** Whether it is one of these. */
  boolean credit(GenerationId generation, int tokens) {
    Pending waiting = pending.get(generation);
    if (waiting != null) {
      waiting.credit += tokens;
    }
    return waiting != null;
  }

  /** Whether it is one of these. */
  boolean hold(GenerationId generation, boolean hold) {
    Pending waiting = pending.get(generation);
    if (waiting != null) {
      waiting.held = hold;
    }
    return waiting != null;
  }

  /** Forgets all of them. */
  List<GenerationId> clear() {
    List<GenerationId> all = List.copyOf(pending.keySet());
    pending.clear();
    return all;
  }
}
