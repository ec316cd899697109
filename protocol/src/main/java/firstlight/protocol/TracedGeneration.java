package firstlight.protocol;

/**
 * One run of a model on a Prompt, token by token. The arrays are not to be changed.
 *
 * @param index which answer of the Response, from 0
 * @param replica that ran it; empty: none
 * @param queuedMillis how long it waited there
 * @param firstTokenMillis from the request's arrival; 0: there was no token
 * @param finish name of a {@link FinishReason}; empty: it did not end by itself
 * @param stop the stop string that ended it; empty: none did
 * @param tokenIds empty where no text is kept
 * @param logprobs one a token, or empty
 * @param tokenMicros when each token arrived: µs after the one before it, the first after the
 *     request's arrival
 */
public record TracedGeneration(
    int index,
    String replica,
    Usage usage,
    long queuedMillis,
    long firstTokenMillis,
    String finish,
    String stop,
    long seed,
    int[] tokenIds,
    float[] logprobs,
    int[] tokenMicros) {}
