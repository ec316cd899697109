package firstlight.batcher;

import firstlight.protocol.GenerationId;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.Priority;
import firstlight.protocol.Sampling;
import firstlight.protocol.TenantId;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Generations for tests, and what a glass device alone makes of them. */
final class Specs {
  static final int VOCABULARY = 50_000;

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
        spec.continued());
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
        true);
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
        spec.continued());
  }

  /** A token's text: short, different, and not cut at letters. */
  static byte[] bytes(int token) {
    return Integer.toString(token, 3 + token % 5).getBytes(StandardCharsets.UTF_8);
  }

  /** What the model says when nothing else runs, without stop strings: as many as asked for. */
  static List<Integer> alone(GenerationSpec spec) {
    List<Integer> output = new ArrayList<>();
    int[] history = spec.prompt();
    for (int i = 0; i < spec.outputMax(); i++) {
      int next = GlassDevice.next(history, spec.sampling(), VOCABULARY).id();
      output.add(next);
      history = Arrays.copyOf(history, history.length + 1);
      history[history.length - 1] = next;
    }
    return output;
  }
}
