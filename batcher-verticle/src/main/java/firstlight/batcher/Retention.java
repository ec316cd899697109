package firstlight.batcher;

import java.time.Duration;

/**
 * How long what a Session's next turn will ask for is kept in the prefix cache.
 *
 * @param keptFor time since its last use
 * @param keptShare share of all Blocks that may be kept for one tenant, from 0 to 1
 */
record Retention(Duration keptFor, double keptShare) {}
