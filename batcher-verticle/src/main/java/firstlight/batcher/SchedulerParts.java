package firstlight.batcher;

import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.Time;
import java.util.function.IntFunction;

/**
 * What a {@link Scheduler} is made from.
 *
 * @param tokenBytes the bytes of a token's text
 * @param counts outlives the scheduler
 * @param salt a secret, for {@link PrefixIndex}
 */
record SchedulerParts(
    SchedulerLimits limits,
    DeviceCapacity capacity,
    IntFunction<byte[]> tokenBytes,
    Time time,
    Counts counts,
    long salt,
    BlockHash hash) {}
