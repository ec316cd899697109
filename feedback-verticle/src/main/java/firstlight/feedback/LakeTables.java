package firstlight.feedback;

import firstlight.lake.LakeCommits;
import firstlight.lake.LakeFile;
import firstlight.lake.LakeKind;
import java.io.IOException;
import java.util.List;
import org.apache.iceberg.Schema;

/**
 * The lake's tables. Blocks: for worker threads only. Each call fails with an IOException when the
 * catalog or the store is away; then it may or may not have had its effect.
 */
interface LakeTables {
  /** What files of a kind must look like. */
  Schema schema(LakeKind kind) throws IOException;

  LakeCommits.Place place(String topicId, int partition) throws IOException;

  /**
   * Appends a batch's files of one kind, once.
   *
   * @param next the first offset after the batch
   */
  void append(LakeKind kind, BatchName batch, long next, List<LakeFile> files) throws IOException;

  void close();
}
