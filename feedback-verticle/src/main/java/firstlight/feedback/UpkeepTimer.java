package firstlight.feedback;

import firstlight.lake.UpkeepReport;
import firstlight.protocol.Time;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import io.vertx.core.shareddata.LocalMap;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the lake put in order now and then, on a thread that nothing else waits for. Of several in a
 * process one does it at a time; of several processes the upkeep's own lock sees to that.
 */
final class UpkeepTimer {
  private static final Logger LOG = LoggerFactory.getLogger(UpkeepTimer.class);
  private static final String NAME = "firstlight-lake-upkeep";
  private static final Duration LONG = Duration.ofHours(1);

  private final Vertx vertx;
  private final Duration every;
  private final Callable<Optional<UpkeepReport>> upkeep;
  private final Runnable hurry;
  private final QuietLog quiet;
  private final WorkerExecutor worker;
  private final LocalMap<String, Long> begun;
  private final Time time;
  private Future<?> running = Future.succeededFuture();
  private long timer;

  /**
   * @param every time from one run to the next
   * @param upkeep blocks; empty: another process is at it
   * @param hurry lets a run end early
   */
  UpkeepTimer(
      Vertx vertx,
      Time time,
      Duration every,
      Callable<Optional<UpkeepReport>> upkeep,
      Runnable hurry) {
    this.hurry = hurry;
    this.vertx = vertx;
    this.time = time;
    this.every = every;
    this.upkeep = upkeep;
    quiet = new QuietLog(LOG, time);
    worker = vertx.createSharedWorkerExecutor(NAME, 1, LONG.toMillis(), TimeUnit.MILLISECONDS);
    begun = vertx.sharedData().getLocalMap(NAME);
  }

  UpkeepTimer start() {
    timer = vertx.setPeriodic(every.toMillis(), _ -> tick());
    return this;
  }

  private void tick() {
    if (!running.isComplete() || !isOurTurn()) {
      return;
    }
    running =
        worker
            .executeBlocking(upkeep, false)
            .onSuccess(report -> report.ifPresent(UpkeepTimer::tell))
            .onFailure(failure -> quiet.warn("the lake was not put in order", failure));
  }

  private static void tell(UpkeepReport report) {
    if (report.merging().filesBefore() > 0 || report.objects() > 0) {
      LOG.info("the lake was put in order: {}", report);
    }
  }

  /** The timers of one process tick at their own times; so half of the time is enough. */
  private boolean isOurTurn() {
    long now = time.nanos();
    Long last = begun.putIfAbsent(NAME, now);
    return last == null
        || now - last > every.toNanos() / 2 && begun.replaceIfPresent(NAME, last, now);
  }

  /**
   * Ends; a run that does not end in time goes on alone until its process ends, which harms
   * nothing.
   */
  Future<Void> stop(Duration limit) {
    vertx.cancelTimer(timer);
    hurry.run();
    return running
        .<Void>mapEmpty()
        .timeout(Math.max(1, limit.toMillis()), TimeUnit.MILLISECONDS)
        .otherwiseEmpty()
        .eventually(worker::close);
  }
}
