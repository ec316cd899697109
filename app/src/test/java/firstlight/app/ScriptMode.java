package firstlight.app;

/** How the mesh under a script is set up. Every script must pass in every mode. */
enum ScriptMode {
  /** As the script says. */
  PLAIN(0, 0, true, false),
  /** A Block holds one token: every token needs a new one. */
  TINY_BLOCKS(1, 0, true, false),
  /** Nothing computed is used again. */
  NO_PREFIX_CACHE(0, 0, false, false),
  /** A Step has four tokens: every prompt is cut many times, and at most four Sequences run. */
  TINY_STEPS(0, 4, true, false),
  /** Messages are encoded and decoded though they stay inside the JVM. */
  ON_THE_WIRE(0, 0, true, true);

  private final int blockTokens;
  private final int stepTokens;
  private final boolean prefixCache;
  private final boolean wire;

  ScriptMode(int blockTokens, int stepTokens, boolean prefixCache, boolean wire) {
    this.blockTokens = blockTokens;
    this.stepTokens = stepTokens;
    this.prefixCache = prefixCache;
    this.wire = wire;
  }

  int blockTokens(int written) {
    return blockTokens == 0 ? written : blockTokens;
  }

  int stepTokens(int written) {
    return stepTokens == 0 ? written : stepTokens;
  }

  /** Tokens of one prompt in a Step: never all of a tiny one, so that others get on beside it. */
  int chunk(int written) {
    return stepTokens == 0 ? written : Math.min(written, stepTokens / 2);
  }

  boolean prefixCache() {
    return prefixCache;
  }

  boolean wire() {
    return wire;
  }
}
