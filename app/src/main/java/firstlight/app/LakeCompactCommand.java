package firstlight.app;

import firstlight.lake.LakeFailure;
import firstlight.lake.LakeUpkeep;
import firstlight.lake.Merging;
import firstlight.lake.UpkeepReport;
import firstlight.protocol.IdSource;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code firstlight lake compact}: puts the tables in order now. */
@Command(
    name = "compact",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = {
      "Merges small files, ends old snapshots and deletes what nobody needs, as a",
      "running node does by itself every few minutes."
    })
final class LakeCompactCommand implements Callable<Integer> {
  /** A run does so much at most; as many as any lake needs. */
  private static final int RUNS_MAX = 1000;

  @Mixin private LakeOptions lake = new LakeOptions();
  @Spec private CommandSpec spec = CommandSpec.create();

  @Override
  public Integer call() throws Exception {
    return lake.run(this::compact);
  }

  private void compact(LakeServices services) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    LakeUpkeep upkeep =
        new LakeUpkeep(
            services.config(),
            services.time(),
            new IdSource(new SecureRandom()),
            new SimpleMeterRegistry());
    Runtime.getRuntime().addShutdownHook(new Thread(upkeep::stop, "compact-stop"));
    for (int run = 0; run < RUNS_MAX; run++) {
      Optional<UpkeepReport> report = run(upkeep, services);
      if (report.isEmpty()) {
        throw new LakeFailure("somebody else, the running node say, is at it. Ask again later.");
      }
      if (run > 0 && report.get().merging().filesBefore() == 0) {
        return;
      }
      print(report.get(), out);
      if (report.get().failures() > 0) {
        throw new LakeFailure(
            "%d steps have failed; what was done stays, and the next run tries them again."
                .formatted(report.get().failures()));
      }
      if (report.get().merging().filesBefore() == 0) {
        return;
      }
    }
  }

  private static Optional<UpkeepReport> run(LakeUpkeep upkeep, LakeServices services)
      throws IOException {
    try {
      return upkeep.run();
    } catch (SQLException | RuntimeException e) {
      throw LakeFailure.of(new IllegalStateException(e), services.config());
    }
  }

  private static void print(UpkeepReport report, PrintWriter out) {
    Merging merging = report.merging();
    out.printf(
        "%d files of %d KiB became %d of %d KiB with %d rows, %d repeats went%n",
        merging.filesBefore(),
        merging.bytesBefore() >> 10,
        merging.filesAfter(),
        merging.bytesAfter() >> 10,
        merging.rows(),
        merging.repeats());
    out.printf("%d snapshots ended, %d objects deleted%n", report.snapshots(), report.objects());
  }
}
