package firstlight.session;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Looks whether a service that is away is back, so that no client has to wait for finding out: in a
 * moment, since perhaps only a connection was lost, and then whenever its {@link Outage} allows it.
 * Safe for several threads.
 */
final class Lookout {
  /** A pool needs it to notice that a connection which just failed is closed. */
  private static final Duration MOMENT = Duration.ofMillis(20);

  private final Vertx vertx;
  private final Outage outage;
  private final Supplier<Future<?>> look;
  private boolean looking;
  private boolean closed;

  /**
   * @param look asks the service for something small, and tells the outage how that went
   */
  Lookout(Vertx vertx, Outage outage, Supplier<Future<?>> look) {
    this.vertx = vertx;
    this.outage = outage;
    this.look = look;
  }

  /** The service is away; it may have been told before. */
  void begin() {
    synchronized (this) {
      if (looking || closed) {
        return;
      }
      looking = true;
    }
    long moment = Math.min(MOMENT.toMillis(), outage.pause().toMillis());
    vertx.setTimer(moment, _ -> lookOnce());
  }

  synchronized void close() {
    closed = true;
  }

  private void lookOnce() {
    synchronized (this) {
      if (closed) {
        return;
      }
    }
    look.get();
    lookLater();
  }

  private void lookLater() {
    vertx.setTimer(outage.pause().toMillis(), _ -> lookAgain());
  }

  private void lookAgain() {
    synchronized (this) {
      looking = outage.away() && !closed;
      if (!looking) {
        return;
      }
    }
    if (outage.mayTry()) {
      look.get();
    }
    lookLater();
  }
}
