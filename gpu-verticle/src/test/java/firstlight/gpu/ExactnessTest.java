package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.model.ModelFile;
import firstlight.model.TestModels;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import firstlight.protocol.SliceResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A Sequence's tokens and log-probabilities are the same, bit for bit, whatever else the device
 * does and however its prompt was cut. With the real model, the default kernels.
 */
class ExactnessTest {
  private static final int DECODED = 12;

  /** More than one split of the attention. */
  private static final int LONG = 500;

  private static final int[] PROMPT =
      IntStream.range(0, 45).map(i -> (i * 977 + 13) % 40_000).toArray();
  private static final Sampling CHANCE =
      new Sampling(0.9f, 0, 0.95f, 0, 1.1f, 0.3f, 0.2f, Steps.NOTHING, new float[0], 7, 5);

  private static ModelFile file;
  private static CpuDevice device;
  private static List<SampledToken> alone;

  @BeforeAll
  static void run_it_alone() {
    file = ModelFile.open(TestModels.smollm2());
    device = open(2, 16);
    alone = generate(device, PROMPT.length, Steps.blocks(0, 4));
  }

  @AfterAll
  static void close() {
    device.close();
    file.close();
  }

  private static CpuDevice open(int threads, int blockTokens) {
    return CpuDevice.open(
        "smollm2", file, TestDevices.config(GpuConfig.Kernels.Q8, threads, blockTokens));
  }

  @Test
  void one_thread_gives_what_two_give() {
    try (CpuDevice single = open(1, 16)) {
      same(generate(single, PROMPT.length, Steps.blocks(0, 4)));
    }
  }

  @Test
  void three_threads_and_larger_blocks_change_nothing() {
    try (CpuDevice other = open(3, 32)) {
      same(generate(other, PROMPT.length, new int[] {9, 2}));
    }
  }

  @Test
  void scattered_blocks_change_nothing() {
    same(generate(device, PROMPT.length, new int[] {41, 7, 30, 2}));
  }

  @Test
  void a_prompt_in_chunks_gives_what_a_whole_one_gives() {
    for (int chunk : new int[] {1, 5, 16, 31}) {
      same(generate(device, chunk, Steps.blocks(8, 4)));
    }
  }

  @Test
  void a_long_context_is_the_same_however_it_is_cut_and_dealt_out() {
    int[] prompt = IntStream.range(0, LONG).map(i -> (i * 977 + 13) % 40_000).toArray();
    Slice whole = Steps.slice("g", prompt, 0, Steps.blocks(0, 32), DECODED);
    List<SampledToken> expected = Steps.run(device, whole);
    try (CpuDevice single = open(1, 32)) {
      int[] blocks = Steps.blocks(0, 16);
      for (int fed = 0; fed < LONG - DECODED; fed += 83) {
        int end = Math.min(LONG - DECODED, fed + 83);
        Steps.run(single, Steps.slice("g", Arrays.copyOfRange(prompt, fed, end), fed, blocks, 0));
      }
      decoded_in_steps_of_one(single, prompt, blocks, expected);
    }
    decoded_in_steps_of_one(device, prompt, Steps.blocks(0, 32), expected);
  }

  /** The splits of one row are what threads share. */
  private static void decoded_in_steps_of_one(
      CpuDevice on, int[] prompt, int[] blocks, List<SampledToken> expected) {
    for (int i = 0; i < DECODED; i++) {
      int position = LONG - DECODED + i;
      Slice one = Steps.slice("g", new int[] {prompt[position]}, position, blocks, 1);
      SampledToken token = Steps.run(on, one).getFirst();
      assertThat(token.logprob()).isEqualTo(expected.get(i).logprob());
      assertThat(token.topLogprobs()).isEqualTo(expected.get(i).topLogprobs());
    }
  }

  @Test
  void a_crowd_changes_nothing() {
    Crowd crowd = new Crowd(new Random(Long.getLong("seed", 1)));
    List<SampledToken> tokens = new ArrayList<>();
    for (int fed = 0; tokens.size() < DECODED; ) {
      Slice ours = Steps.next(PROMPT, CHANCE, fed, 9, Steps.blocks(0, 4), tokens);
      List<Slice> slices = crowd.around(ours);
      List<SliceResult> results = device.run(new RunStep(1, slices)).slices();
      tokens.addAll(results.get(slices.indexOf(ours)).tokens());
      fed = ours.end();
    }
    same(tokens);
  }

  @Test
  void positions_forced_in_one_step_give_what_decoding_gave() {
    int[] forced =
        IntStream.concat(
                IntStream.of(PROMPT), alone.stream().limit(DECODED - 1).mapToInt(SampledToken::id))
            .toArray();
    same(
        Steps.run(
            device, Steps.with(CHANCE, Steps.slice("g", forced, 0, Steps.blocks(0, 4), DECODED))));
  }

  @Test
  void another_seed_gives_another_text() {
    Sampling other =
        new Sampling(0.9f, 0, 0.95f, 0, 1.1f, 0.3f, 0.2f, Steps.NOTHING, new float[0], 8, 5);
    int[] forced =
        IntStream.concat(
                IntStream.of(PROMPT), alone.stream().limit(DECODED - 1).mapToInt(SampledToken::id))
            .toArray();
    List<SampledToken> tokens =
        Steps.run(
            device, Steps.with(other, Steps.slice("g", forced, 0, Steps.blocks(0, 4), DECODED)));
    assertThat(tokens).extracting(SampledToken::id).isNotEqualTo(ids(alone));
  }

  private static List<SampledToken> generate(CpuDevice on, int chunk, int[] blocks) {
    return Steps.generate(on, PROMPT, CHANCE, DECODED, chunk, blocks);
  }

  private static void same(List<SampledToken> tokens) {
    assertThat(ids(tokens)).isEqualTo(ids(alone));
    for (int i = 0; i < DECODED; i++) {
      assertThat(tokens.get(i).logprob()).isEqualTo(alone.get(i).logprob());
      assertThat(tokens.get(i).topIds()).isEqualTo(alone.get(i).topIds());
      assertThat(tokens.get(i).topLogprobs()).isEqualTo(alone.get(i).topLogprobs());
    }
  }

  private static List<Integer> ids(List<SampledToken> tokens) {
    return tokens.stream().map(SampledToken::id).toList();
  }

  /** Other Sequences, of random lengths, before and after ours. */
  private record Crowd(Random random) {
    List<Slice> around(Slice ours) {
      List<Slice> slices = new ArrayList<>();
      int others = 1 + random.nextInt(12);
      for (int i = 0; i < others; i++) {
        int[] tokens = random.ints(1 + random.nextInt(15), 0, 40_000).toArray();
        slices.add(Steps.slice("o" + i, tokens, 0, new int[] {16 + i}, random.nextInt(2)));
      }
      slices.add(random.nextInt(slices.size() + 1), ours);
      return slices;
    }
  }
}
