package firstlight.batcher;

/** What a replica has counted since it began; only ever grows, also when its device is replaced. */
final class Counts {
  long preemptions;

  /** Prompt tokens looked up in the prefix cache. */
  long prefixQueries;

  /** Those of them that were found. */
  long prefixHits;

  /** Prompt tokens of generations that got their first token. */
  long promptTokens;

  /** Slices with guesses. */
  long drafts;

  /** Tokens guessed. */
  long draftTokens;

  /** Those of them that the model chose too. */
  long acceptedTokens;

  /** Tokens sampled and kept. */
  long generationTokens;
}
