package firstlight.batcher;

/**
 * What a Step makes a device do.
 *
 * @param prefill tokens of prompts, or of what is computed once more
 * @param decodes tokens of Sequences that decode: one each, or more that are guessed
 * @param attended positions looked back at, over all tokens
 */
record StepLoad(int prefill, int decodes, long attended) {
  static final StepLoad NOTHING = new StepLoad(0, 0, 0);

  /** And the tokens from {@code start} on of one Sequence more. */
  StepLoad plus(int tokens, int start, boolean decode) {
    return new StepLoad(
        prefill + (decode ? 0 : tokens),
        decodes + (decode ? tokens : 0),
        attended + (long) tokens * start + (long) tokens * tokens / 2);
  }

  int tokens() {
    return prefill + decodes;
  }
}
