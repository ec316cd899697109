/**
 * The lake: what the sink that fills it and the command line that reads it share.
 *
 * <p>Each {@link firstlight.lake.LakeKind} of Event has one Apache Iceberg table. {@link
 * firstlight.lake.LakeSchema} says which columns it has; {@link firstlight.lake.LakeCatalog} finds
 * it, makes it, and gives it the columns that a newer version adds; {@link
 * firstlight.lake.LakeCommits} appends each batch of {@link firstlight.lake.LakeFile}s once, by the
 * {@link firstlight.lake.LakeOffsets} in the newest snapshot.
 *
 * <p>{@link firstlight.lake.EventDecoder} tells an Event from what is none; {@link
 * firstlight.lake.DeadLetterReplay} sends back what a newer version understands.
 */
@NullMarked
package firstlight.lake;

import org.jspecify.annotations.NullMarked;
