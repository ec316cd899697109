/**
 * The sink: Events from Kafka into Parquet files on S3-protocol storage, and those into the lake's
 * Iceberg tables.
 *
 * <p>The way of an Event: {@link firstlight.feedback.FeedbackVerticle} polls; one {@code
 * PartitionSink} per Kafka partition collects records in an {@code OpenBatch}; the {@code
 * EventDecoder} tells good from poison; {@code ParquetRoller} says when the batch is full; {@code
 * ParquetFileWriter} writes one file per kind and date on a worker thread; {@code LakeUpload}
 * brings them into the {@code LakeStore} and tells the {@code LakeTables} of them, from where on
 * they are seen; only then is the offset committed.
 *
 * <p>No event twice, none missing, at whatever moment the process dies:
 *
 * <ul>
 *   <li>A batch is a range of offsets of one partition. Before its first file is uploaded, its end
 *       is written down beside the files (a {@code Cut}), with a put that fails when there is one.
 *       Who reads the same first offset again finds the Cut, ends the batch there too, makes files
 *       with the same names and rows, and finds them already there.
 *   <li>Each table knows which batches it has, so a batch that is appended again is there once.
 *   <li>The offset is committed last, so whatever was not uploaded is read again.
 *   <li>A file's name says topic, partition and the batch's first offset. Where another file has
 *       that name (a topic was made anew, say), the name gets a suffix and nothing is overwritten.
 *   <li>Poison goes to the dead-letter topic before its offset is committed, at least once.
 * </ul>
 */
@NullMarked
package firstlight.feedback;

import org.jspecify.annotations.NullMarked;
