package firstlight.bench;

import java.util.List;

/** What is measured of an engine, the same for all. All figures are tokens per second. */
final class EngineFigures {
  /** Tokens of the prompt that is prefilled. */
  static final int PROMPT = 512;

  /** Tokens one Sequence decodes alone, from an empty memory. */
  static final int ALONE = 128;

  /** Tokens in memory before Sequences decode together. */
  static final int BEFORE = 128;

  /** Tokens each of them decodes. */
  static final int TOGETHER = 64;

  /** How many they are. */
  static final List<Integer> BATCHES = List.of(1, 2, 4, 8, 16, 32);

  static final String DECODE = "decode %d tokens".formatted(ALONE);

  private EngineFigures() {}

  static String prefill(int tokens) {
    return "prefill " + tokens;
  }

  static String batched(int sequences) {
    return "decode, %d at once".formatted(sequences);
  }
}
