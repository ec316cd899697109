package firstlight.edge;

/**
 * How long the prompt of a request is.
 *
 * @param tokens of all its prompts
 * @param contextMax as many positions a Sequence can have: prompt and answer together
 */
record PromptSize(int tokens, int contextMax) {}
