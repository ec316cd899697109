package firstlight.feedback;

import firstlight.lake.LakeConfig;
import java.io.IOException;

/** A real lake that is cut off at a chosen moment. */
final class FaultyStorage implements FeedbackVerticle.Storage {
  private final Cutoff cutoff;

  FaultyStorage(Cutoff cutoff) {
    this.cutoff = cutoff;
  }

  @Override
  public LakeStore store(LakeConfig config) {
    return new FaultyLake(new S3LakeStore(config.s3()), cutoff);
  }

  @Override
  public LakeTables tables(LakeConfig config) throws IOException {
    return new FaultyTables(IcebergTables.open(config), cutoff);
  }
}
