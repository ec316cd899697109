package firstlight.feedback;

import firstlight.lake.LakeCommits;
import firstlight.lake.LakeFile;
import firstlight.lake.LakeKind;
import firstlight.lake.LakeSchema;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.iceberg.Schema;

/** Tables that only remember what was appended. */
final class FolderTables implements LakeTables {
  final List<String> appended = new CopyOnWriteArrayList<>();
  volatile LakeCommits.Place place = new LakeCommits.Place(0, 0);

  @Override
  public Schema schema(LakeKind kind) {
    return LakeSchema.of(kind);
  }

  @Override
  public LakeCommits.Place place(String topicId, int partition) {
    return place;
  }

  @Override
  public void append(LakeKind kind, BatchName batch, long next, List<LakeFile> files) {
    appended.add("%s %d-%d".formatted(kind.table(), batch.first(), next));
  }

  @Override
  public void close() {}
}
