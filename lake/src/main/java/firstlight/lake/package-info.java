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
 *
 * <p>{@link firstlight.lake.LakeReader} reads it with DuckDB from copies of its data files; a
 * {@link firstlight.lake.LakeQuery} is a question, {@link firstlight.lake.TrainingExport} writes
 * what training needs, and {@link firstlight.lake.LakeStatus} says what is there.
 *
 * <p>{@link firstlight.lake.LakeUpkeep} keeps the tables in order: {@code CompactionPlan} says
 * which small files become one, {@code Compactor} and {@code ParquetMerge} make it so, {@code
 * Expiry} ends old snapshots, {@code Orphans} deletes what none of them refers to.
 */
@NullMarked
package firstlight.lake;

import org.jspecify.annotations.NullMarked;
