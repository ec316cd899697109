package firstlight.lake;

import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.iceberg.Table;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the tables in order: merges small files, ends old snapshots, deletes what nobody needs.
 *
 * <p>Everything it does is a commit like any other or a deletion of what no snapshot refers to, so
 * it may be killed at any moment, and readers and the sink need not know of it. It has tables of
 * its own: an Iceberg table is not for two threads.
 */
public final class LakeUpkeep {
  private static final Logger LOG = LoggerFactory.getLogger(LakeUpkeep.class);
  private static final long DAY_MS = Duration.ofDays(1).toMillis();
  private static final int SWEEPS_PER_AGE = 24;

  private final LakeConfig config;
  private final Time time;
  private final Compactor compactor;
  private final Expiry expiry;
  private final Orphans orphans;
  private final UpkeepMetrics metrics;
  private long sweptAt;
  private volatile boolean stopped;

  /**
   * @param ids for names of files and folders
   */
  public LakeUpkeep(LakeConfig config, Time time, IdSource ids, MeterRegistry registry) {
    this.config = config;
    this.time = time;
    UpkeepConfig upkeep = config.upkeep();
    compactor = new Compactor(upkeep.compaction(), ids);
    expiry = new Expiry(time, upkeep.keepSnapshots());
    orphans = new Orphans(time, upkeep.orphanAge(), upkeep.orphansMax());
    metrics = new UpkeepMetrics(registry);
  }

  /**
   * Does all there is to do, within the limits of one run. Blocks, for minutes if need be.
   *
   * @return empty: somebody else is at it
   * @throws SQLException the database does not answer
   * @throws IOException the folder for copies can not be used
   * @throws RuntimeException of Iceberg or the AWS SDK, if the lake can not be opened
   */
  public Optional<UpkeepReport> run() throws SQLException, IOException {
    Optional<UpkeepLock> lock = UpkeepLock.tryTake(config.catalog());
    if (lock.isEmpty()) {
      return Optional.empty();
    }
    try (UpkeepLock _ = lock.get();
        LakeCatalog catalog = LakeCatalog.open(config)) {
      compactor.clean();
      UpkeepReport report = UpkeepReport.NOTHING;
      boolean sweep = sweepIsDue();
      for (LakeKind kind : LakeKind.values()) {
        Optional<Table> table = stopped ? Optional.empty() : catalog.find(kind);
        if (table.isPresent()) {
          report = report.plus(keep(kind, table.get(), sweep));
        }
      }
      return Optional.of(report);
    }
  }

  /** It reads all manifests, and what it looks for is old anyway. */
  private boolean sweepIsDue() {
    long now = time.epochMillis();
    boolean due = now - sweptAt >= config.upkeep().orphanAge().toMillis() / SWEEPS_PER_AGE;
    if (due) {
      sweptAt = now;
    }
    return due;
  }

  /** Lets a run end after the merge that it is at. */
  public void stop() {
    stopped = true;
  }

  private UpkeepReport keep(LakeKind kind, Table table, boolean sweep) {
    UpkeepReport report = merge(kind, table).plus(expire(kind, table));
    return sweep ? report.plus(sweep(kind, table)) : report;
  }

  private UpkeepReport merge(LakeKind kind, Table table) {
    UpkeepReport report = UpkeepReport.NOTHING;
    try {
      long today = Math.floorDiv(time.epochMillis(), DAY_MS);
      for (CompactionPlan.Group group :
          CompactionPlan.choose(LakeFiles.of(table), config.upkeep().compaction(), today)) {
        if (stopped) {
          break;
        }
        Merging merging = compactor.merge(table, group);
        metrics.merged(kind, merging);
        report = report.plus(new UpkeepReport(merging, 0, 0, 0));
      }
      return report;
    } catch (IOException | SQLException | RuntimeException e) {
      return report.plus(failed(kind, "merge", e));
    }
  }

  private UpkeepReport expire(LakeKind kind, Table table) {
    try {
      Expiry.Expired expired = expiry.expire(table);
      metrics.expired(kind, expired);
      return new UpkeepReport(Merging.NOTHING, expired.snapshots(), expired.objects(), 0);
    } catch (RuntimeException e) {
      return failed(kind, "expire", e);
    }
  }

  private UpkeepReport sweep(LakeKind kind, Table table) {
    try {
      long deleted =
          orphans.delete(
              table,
              List.of(
                  config.s3().uri("kind=%s/".formatted(kind.word())),
                  table.location() + "/metadata/"));
      metrics.orphans(kind, deleted);
      return new UpkeepReport(Merging.NOTHING, 0, deleted, 0);
    } catch (RuntimeException e) {
      return failed(kind, "orphans", e);
    }
  }

  /** One table's trouble does not keep the others waiting. */
  private UpkeepReport failed(LakeKind kind, String step, Exception failure) {
    LOG.warn("upkeep of {} has failed at {}", kind.table(), step, failure);
    metrics.failed(kind, step);
    return UpkeepReport.FAILURE;
  }
}
