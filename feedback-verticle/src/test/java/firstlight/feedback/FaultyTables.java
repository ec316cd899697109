package firstlight.feedback;

import firstlight.lake.LakeCommits;
import firstlight.lake.LakeFile;
import firstlight.lake.LakeKind;
import java.io.IOException;
import java.util.List;
import org.apache.iceberg.Schema;

/** Tables that are cut off at a chosen moment. */
class FaultyTables implements LakeTables {
  private final LakeTables tables;
  private final Cutoff cutoff;

  FaultyTables(LakeTables tables, Cutoff cutoff) {
    this.tables = tables;
    this.cutoff = cutoff;
  }

  @Override
  public Schema schema(LakeKind kind) throws IOException {
    return tables.schema(kind);
  }

  @Override
  public LakeCommits.Place place(String topicId, int partition) throws IOException {
    cutoff.check();
    return tables.place(topicId, partition);
  }

  @Override
  public void append(LakeKind kind, BatchName batch, long next, List<LakeFile> files)
      throws IOException {
    cutoff.check();
    beforeAppend();
    tables.append(kind, batch, next, files);
    cutoff.passed();
  }

  /** For a test that has something to do just then. */
  void beforeAppend() throws IOException {}

  @Override
  public void close() {
    tables.close();
  }
}
