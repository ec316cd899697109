package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.MeshException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Goal: a generation keeps to its constraint, ends with it, and can begin again at any token. */
class GuideTest {
  private static GenerationSpec spec(String grammar, int outputMax) {
    return Specs.constrained(Specs.of("g", 10, outputMax), grammar);
  }

  private static GlassReplica run(GenerationSpec spec) {
    return GlassReplica.roomy().submit(spec).run();
  }

  @Test
  void the_text_is_one_of_the_grammar_and_ends_with_it() {
    GenerationSpec spec = spec("root ::= \"1\" [0-2]{20,30} \"44\"", 1_000);
    GlassReplica replica = run(spec);
    assertThat(replica.told("g").text.toString()).matches("1[0-2]{20,30}44");
    assertThat(replica.told("g").ended().reason()).isEqualTo(FinishReason.END);
    replica.assertRight(spec);
  }

  @Test
  void it_may_be_cut_by_its_length() {
    GenerationSpec spec = spec("root ::= [0-2]+ \"4\"", 5);
    GlassReplica replica = run(spec);
    assertThat(replica.told("g").ended().reason()).isEqualTo(FinishReason.LENGTH);
    replica.assertRight(spec);
  }

  @Test
  void an_end_token_may_come_only_where_the_text_may_end() {
    int[] ends = IntStream.range(0, 5_000).map(i -> 10 * i).toArray();
    GenerationSpec spec = Specs.stopping(spec("root ::= ([0-2]{3})+", 400), List.of(), ends);
    GlassReplica replica = run(spec);
    replica.assertRight(spec);
    String text = replica.told("g").text.toString();
    assertThat(replica.told("g").ended().reason()).isEqualTo(FinishReason.END);
    assertThat(text.length() % 3).isZero();
  }

  @Test
  void it_goes_on_from_any_of_its_tokens() {
    GenerationSpec spec = spec("root ::= \"1\" [0-2]{10,20} \"44\" | \"2\" [3-4]{9,33} \"0\"", 100);
    int[] all = Specs.alone(spec).stream().mapToInt(Integer::intValue).toArray();
    for (int known = 0; known < all.length; known++) {
      GenerationSpec later = Specs.known(spec, Arrays.copyOf(all, known));
      run(later).assertRight(later);
    }
  }

  @Test
  void guesses_are_kept_to_it_and_change_nothing() {
    int[] prompt = Specs.prompt(5, 30);
    prompt[0] = GlassDevice.ECHO;
    GenerationSpec spec =
        Specs.constrained(
            Specs.of("g", "t", prompt, 200), "root ::= ([0-6]{4} | \"1\"){60,200} \"0\"");
    GlassReplica replica =
        new GlassReplica(GlassReplica.LIMITS, GlassDevice.of(256, 4, 64, 50_000))
            .submit(spec)
            .run();
    replica.assertRight(spec);
    assertThat(replica.counts.acceptedTokens).isPositive();
  }

  @Test
  void a_known_token_that_it_does_not_allow_is_refused() {
    GenerationSpec spec = Specs.known(spec("root ::= \"00\"", 10), 49_999);
    MeshException failure = run(spec).told("g").refused().failure();
    assertThat(failure.kind()).isEqualTo(FailureKind.INVALID_REQUEST);
    assertThat(failure.code()).isEqualTo("constraint_not_followed");
  }

  @Test
  void what_no_token_fits_is_refused() {
    MeshException failure = run(spec("root ::= \"x\"", 10)).told("g").refused().failure();
    assertThat(failure).hasMessageContaining("No token of the model fits");
  }

  @Test
  void a_generation_fails_where_no_token_fits_any_more() {
    GlassReplica replica = run(spec("root ::= [0-6]{5} \"x\"", 10));
    assertThat(replica.told("g").tokens).isNotEmpty();
    assertThat(replica.told("g").refused().failure().code()).isEqualTo("constraint_not_followed");
    assertThat(replica.scheduler.idle()).isTrue();
  }

  @Test
  void a_wrong_grammar_is_refused_with_its_reason() {
    MeshException failure = run(spec("root ::= \"x", 10)).told("g").refused().failure();
    assertThat(failure.code()).isEqualTo("invalid_constraint");
    assertThat(failure).hasMessageContaining("line 1").hasMessageContaining("not closed");
  }
}
