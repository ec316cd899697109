package firstlight.edge;

import firstlight.edge.EventDraft.Importance;
import firstlight.protocol.wire.Event;
import org.jspecify.annotations.Nullable;

/**
 * An Event as it was read from the spool.
 *
 * @param segment where it lies
 * @param position likewise
 * @param next where reading goes on behind it
 * @param textSegment number of the file its text was in; negative: none
 * @param traceSegment likewise
 * @param lost what of it was given up in the spool; null: nothing
 */
record SpooledEvent(
    SpoolSegment segment,
    Importance importance,
    Event event,
    long position,
    long next,
    long textSegment,
    long traceSegment,
    EventRecords.@Nullable Cut lost) {}
