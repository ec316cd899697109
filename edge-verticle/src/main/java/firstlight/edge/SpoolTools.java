package firstlight.edge;

import firstlight.protocol.Time;
import java.util.SplittableRandom;

/**
 * What the parts of a spool share.
 *
 * @param random split it for a thread of one's own; splitting is done by one thread
 */
record SpoolTools(Time time, SplittableRandom random, SpoolDisk disk, SpoolMetrics metrics) {}
