/**
 * The lake: what the sink that fills it and the command line that reads it share.
 *
 * <p>Each {@link firstlight.lake.LakeKind} of Event has one Apache Iceberg table. {@link
 * firstlight.lake.LakeSchema} says which columns it has; {@link firstlight.lake.LakeCatalog} finds
 * it, makes it, and gives it the columns that a newer version adds.
 *
 * <p>{@link firstlight.lake.LakeReader} reads it with DuckDB from copies of its data files; a
 * {@link firstlight.lake.LakeQuery} is a question, {@link firstlight.lake.TrainingExport} writes
 * what training needs, and {@link firstlight.lake.LakeStatus} says what is there.
 */
@NullMarked
package firstlight.lake;

import org.jspecify.annotations.NullMarked;
