package firstlight.batcher;

import firstlight.model.Constraint;
import firstlight.model.Grammar;
import firstlight.model.TokenTrie;
import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.Priority;
import firstlight.protocol.Sampling;
import firstlight.protocol.TenantId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Generations for tests, and what a glass device alone makes of them. */
final class Specs {
  static final int VOCABULARY = 50_000;

  private static final TokenTrie TRIE = TokenTrie.of(VOCABULARY, Specs::bytes);
  private static final Map<String, Constraint> CONSTRAINTS = new HashMap<>();

  private Specs() {}

  static GenerationSpec of(String id, int promptLength, int outputMax) {
    return of(id, "t", prompt(id.hashCode(), promptLength), outputMax);
  }

  static GenerationSpec of(String id, String tenant, int[] prompt, int outputMax) {
    return new GenerationSpec(
        new GenerationId(id),
        new TenantId(tenant),
        "glass",
        prompt,
        new int[0],
        outputMax,
        Sampling.GREEDY,
        List.of(),
        new int[0],
        0);
  }

  /** The same tokens for the same seed; a longer prompt begins with the shorter one. */
  static int[] prompt(int seed, int length) {
    return IntStream.range(0, length)
        .map(i -> Math.floorMod((seed + 31) * 7919 + i * 104_729, VOCABULARY))
        .toArray();
  }

  static GenerationSpec known(GenerationSpec spec, int... known) {
    return changed(spec, known, spec.sampling(), spec.deadline(), spec.priority());
  }

  /** The rest of it after so many tokens, from a replica that was lost. */
  static GenerationSpec moved(GenerationSpec spec, List<Integer> output, int known) {
    return spec.moved(
        spec.id(), output.stream().limit(known).mapToInt(Integer::intValue).toArray());
  }

  static GenerationSpec sampled(GenerationSpec spec, Sampling sampling) {
    return changed(spec, spec.known(), sampling, spec.deadline(), spec.priority());
  }

  static GenerationSpec until(GenerationSpec spec, long deadline) {
    return changed(spec, spec.known(), spec.sampling(), deadline, spec.priority());
  }

  static GenerationSpec urgent(GenerationSpec spec, Priority priority) {
    return changed(spec, spec.known(), spec.sampling(), spec.deadline(), priority);
  }

  private static GenerationSpec changed(
      GenerationSpec spec, int[] known, Sampling sampling, long deadline, Priority priority) {
    return new GenerationSpec(
        spec.id(),
        spec.tenant(),
        spec.model(),
        spec.prompt(),
        known,
        spec.outputMax(),
        sampling,
        spec.stop(),
        spec.stopTokens(),
        deadline,
        priority,
        spec.continued(),
        spec.constraint(),
        spec.moved());
  }

  static GenerationSpec continued(GenerationSpec spec) {
    return new GenerationSpec(
        spec.id(),
        spec.tenant(),
        spec.model(),
        spec.prompt(),
        spec.known(),
        spec.outputMax(),
        spec.sampling(),
        spec.stop(),
        spec.stopTokens(),
        spec.deadline(),
        spec.priority(),
        true,
        spec.constraint(),
        spec.moved());
  }

  static GenerationSpec stopping(GenerationSpec spec, List<byte[]> stop, int... stopTokens) {
    return new GenerationSpec(
        spec.id(),
        spec.tenant(),
        spec.model(),
        spec.prompt(),
        spec.known(),
        spec.outputMax(),
        spec.sampling(),
        stop,
        stopTokens,
        spec.deadline(),
        spec.priority(),
        spec.continued(),
        spec.constraint(),
        spec.moved());
  }

  /** A token's text: short, different, and not cut at letters. */
  static byte[] bytes(int token) {
    return Integer.toString(token, 3 + token % 5).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * What the model says when nothing else runs, without stop strings: as many as asked for, or as
   * its constraint lets come.
   */
  static List<Integer> alone(GenerationSpec spec) {
    List<Integer> output = new ArrayList<>();
    int[] history = spec.prompt();
    for (int i = 0; i < spec.outputMax() && !isOver(spec, output); i++) {
      long[] allowed = spec.isConstrained() ? mask(spec, output) : null;
      int next = GlassDevice.next(history, spec.sampling(), VOCABULARY, allowed).id();
      output.add(next);
      history = Arrays.copyOf(history, history.length + 1);
      history[history.length - 1] = next;
    }
    return output;
  }

  static GenerationSpec constrained(GenerationSpec spec, String grammar) {
    return new GenerationSpec(
        spec.id(),
        spec.tenant(),
        spec.model(),
        spec.prompt(),
        spec.known(),
        spec.outputMax(),
        spec.sampling(),
        spec.stop(),
        spec.stopTokens(),
        spec.deadline(),
        spec.priority(),
        spec.continued(),
        grammar,
        spec.moved());
  }

  /** Whether the constraint lets nothing come after these tokens. */
  static boolean isOver(GenerationSpec spec, List<Integer> output) {
    return spec.isConstrained() && state(spec, output).isOver();
  }

  private static long[] mask(GenerationSpec spec, List<Integer> output) {
    Constraint.State state = state(spec, output);
    long[] mask = constraint(spec).mask(state).clone();
    for (int end : spec.stopTokens()) {
      mask[end >> 6] &= ~(1L << end);
      mask[end >> 6] |= (state.isComplete() ? 1L : 0) << end;
    }
    return mask;
  }

  private static Constraint.State state(GenerationSpec spec, List<Integer> output) {
    Constraint.State state = constraint(spec).start();
    for (int token : output) {
      state = constraint(spec).next(state, token);
    }
    return state;
  }

  private static Constraint constraint(GenerationSpec spec) {
    return CONSTRAINTS.computeIfAbsent(
        spec.constraint(),
        grammar ->
            Constraint.compile(Grammar.parse(grammar), TRIE, Specs::bytes, Integer.MAX_VALUE));
  }
}
