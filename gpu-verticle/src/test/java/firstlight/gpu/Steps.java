package firstlight.gpu;

import firstlight.protocol.Device;
import firstlight.protocol.GenerationId;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Short ways to make Steps. */
final class Steps {
  static final int[] NOTHING = new int[0];

  private Steps() {}

  /** A block table of so many Blocks, beginning with that one. */
  static int[] blocks(int first, int count) {
    return IntStream.range(first, first + count).toArray();
  }

  /** Greedy, with five alternatives at each position; the prompt ends with the first sampled. */
  static Slice slice(String generation, int[] tokens, int start, int[] blocks, int sampled) {
    return new Slice(
        new GenerationId(generation),
        tokens,
        start,
        blocks,
        sampled,
        Sampling.greedy(5),
        start + tokens.length - Math.max(0, sampled - 1),
        NOTHING);
  }

  static Slice with(Sampling sampling, Slice slice) {
    return new Slice(
        slice.generation(),
        slice.tokens(),
        slice.start(),
        slice.blocks(),
        slice.sampled(),
        sampling,
        slice.promptLength(),
        slice.history());
  }

  static List<SampledToken> run(Device device, Slice slice) {
    return device.run(new RunStep(1, List.of(slice))).slices().getFirst().tokens();
  }

  /**
   * The Slice after {@code fed} positions: a chunk of the prompt, or the last token.
   *
   * @param tokens that were generated
   */
  static Slice next(
      int[] prompt,
      Sampling sampling,
      int fed,
      int chunk,
      int[] blocks,
      List<SampledToken> tokens) {
    int[] all =
        IntStream.concat(IntStream.of(prompt), tokens.stream().mapToInt(SampledToken::id))
            .toArray();
    int end = fed < prompt.length ? Math.min(prompt.length, fed + chunk) : fed + 1;
    return new Slice(
        new GenerationId("g"),
        Arrays.copyOfRange(all, fed, end),
        fed,
        blocks,
        end >= prompt.length ? 1 : 0,
        sampling,
        prompt.length,
        Arrays.copyOf(all, fed));
  }

  /** So many tokens after a prompt, which is fed in chunks. */
  static List<SampledToken> generate(
      Device on, int[] prompt, Sampling sampling, int count, int chunk, int[] blocks) {
    List<SampledToken> tokens = new ArrayList<>();
    for (int fed = 0; tokens.size() < count; ) {
      Slice slice = next(prompt, sampling, fed, chunk, blocks, tokens);
      tokens.addAll(run(on, slice));
      fed = slice.end();
    }
    return tokens;
  }
}
