package firstlight.batcher;

import java.time.Duration;

/**
 * What bounds scheduling; each is a setting of the same name.
 *
 * @param runningMax Sequences that hold Blocks at the same time
 * @param stepTokensMax tokens in one Step; the device may allow fewer
 * @param promptChunkMax tokens of one prompt in one Step, so that short prompts go beside long ones
 * @param waitingMax Sequences that wait
 * @param waitingTokensMax their tokens still to be prefilled, together
 * @param firstTokenMax how long a Sequence may wait to be started when its request does not say
 * @param stallMax how long a Sequence may be without credit before it is ended
 * @param prefixCache whether Blocks are reused among Sequences
 * @param retention how long Blocks are kept for a next turn
 * @param draftTokensMax most tokens of one Sequence that are guessed in a Step; 0: none
 * @param shares how they share what there is
 */
record SchedulerLimits(
    int runningMax,
    int stepTokensMax,
    int promptChunkMax,
    int waitingMax,
    int waitingTokensMax,
    Duration firstTokenMax,
    Duration stallMax,
    boolean prefixCache,
    Retention retention,
    int draftTokensMax,
    SharePolicy shares) {}
