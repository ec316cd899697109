package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.MeshException;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PreparationsTest {
  private static final int AT_ONCE = 20;

  /** With one worker, who has done what came before when he does what comes after. */
  private final Vertx vertx = Vertx.vertx(new VertxOptions().setWorkerPoolSize(1));

  private final Preparations preparations = new Preparations(vertx);
  private final Constraints constraints =
      new Constraints(128, id -> String.valueOf((char) id).getBytes(StandardCharsets.ISO_8859_1));

  @AfterEach
  void close() {
    vertx.close().toCompletionStage().toCompletableFuture().join();
  }

  /** Begins as many, cancels the first, and waits for the others. */
  private List<Object> outcomes(String grammar) throws Exception {
    List<Object> outcomes = new ArrayList<>();
    CompletableFuture<List<Object>> all = new CompletableFuture<>();
    Preparations.Listener listener =
        new Preparations.Listener() {
          @Override
          public void accept(Preparations.Pending ready) {
            add(ready.spec.id());
          }

          @Override
          public void failed(GenerationSpec spec, MeshException failure) {
            add(failure);
          }

          private void add(Object outcome) {
            outcomes.add(outcome);
            if (outcomes.size() == AT_ONCE - 1) {
              all.complete(outcomes);
            }
          }
        };
    vertx.runOnContext(
        _ -> {
          for (int i = 0; i < AT_ONCE; i++) {
            GenerationSpec spec = Specs.constrained(Specs.of("g" + i, 4, 5), grammar);
            preparations.begin(spec, 0, constraints, listener);
          }
          preparations.cancel(new GenerationId("g0"));
        });
    return all.get(20, TimeUnit.SECONDS);
  }

  @Test
  void all_that_ask_for_the_same_grammar_go_on_together_but_for_one_that_is_cancelled()
      throws Exception {
    assertThat(outcomes("root ::= [a-z]+"))
        .doesNotHaveDuplicates()
        .doesNotContain(new GenerationId("g0"));
    assertThat(constraints.find("root ::= [a-z]+")).isNotNull();
  }

  @Test
  void the_same_grammar_at_the_same_time_is_compiled_once() throws Exception {
    List<Object> failures = outcomes("root ::= [a-z]{2} nowhere");
    assertThat(failures).hasOnlyElementsOfType(MeshException.class);
    assertThat(failures).allSatisfy(one -> assertThat(one).isSameAs(failures.getFirst()));
    assertThat(outcomes("root ::= [a-z]{2} nowhere").getFirst())
        .as("the next time it is tried anew")
        .isNotSameAs(failures.getFirst());
  }

  /** Notes whether there is what it was told to go on with. */
  private final class Goes implements Preparations.Listener {
    private final String grammar;
    private final CompletableFuture<Boolean> found = new CompletableFuture<>();

    private Goes(String grammar) {
      this.grammar = grammar;
    }

    @Override
    public void accept(Preparations.Pending ready) {
      found.complete(constraints.find(grammar) != null);
    }

    @Override
    public void failed(GenerationSpec spec, MeshException failure) {
      found.completeExceptionally(failure);
    }
  }

  /** The worker has compiled it, and the replica has not heard so yet. */
  @Test
  void one_that_comes_between_the_compilation_and_its_news_goes_on_with_what_was_compiled()
      throws Exception {
    String grammar = "root ::= [a-z]+ [0-9]";
    Goes first = new Goes(grammar);
    Goes between = new Goes(grammar);
    CountDownLatch compiled = new CountDownLatch(1);
    vertx.runOnContext(
        _ -> {
          preparations.begin(
              Specs.constrained(Specs.of("g1", 4, 5), grammar), 0, constraints, first);
          vertx.executeBlocking(
              () -> {
                compiled.countDown();
                return null;
              },
              false);
          await(compiled);
          preparations.begin(
              Specs.constrained(Specs.of("g2", 4, 5), grammar), 0, constraints, between);
        });
    assertThat(first.found.get(20, TimeUnit.SECONDS)).isTrue();
    assertThat(between.found.get(20, TimeUnit.SECONDS)).isTrue();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
