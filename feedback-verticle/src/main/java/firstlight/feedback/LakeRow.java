package firstlight.feedback;

import firstlight.protocol.wire.Event;

/** An Event and where on Kafka it lay. */
record LakeRow(Event event, int partition, long offset) {}
