/**
 * The lake: what the sink that fills it and the command line that reads it share.
 *
 * <p>Each {@link firstlight.lake.LakeKind} of Event has one Apache Iceberg table. {@link
 * firstlight.lake.LakeSchema} says which columns it has; {@link firstlight.lake.LakeCatalog} finds
 * it, makes it, and gives it the columns that a newer version adds.
 */
@NullMarked
package firstlight.lake;

import org.jspecify.annotations.NullMarked;
