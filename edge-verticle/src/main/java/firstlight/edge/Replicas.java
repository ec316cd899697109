package firstlight.edge;

import firstlight.protocol.ReplicaId;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.Time;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The replicas this edge knows, from their own reports. One that is silent for longer than the
 * expiry is forgotten.
 */
final class Replicas {
  private static final int REPLICAS_MAX = 10_000;

  private final Time time;
  private final long expiryNanos;
  private final Map<ReplicaId, Known> known = new LinkedHashMap<>();

  /** The last report of a replica and what this edge has sent it since about then. */
  static final class Known {
    private ReplicaReport report;
    private long heardNanos;
    private long sentNow;
    private long sentBefore;

    private Known(ReplicaReport report) {
      this.report = report;
    }

    ReplicaReport report() {
      return report;
    }

    /**
     * Tokens still to be computed there. A report may have been made just before a submission
     * arrived, so what was sent counts until the report after the next one.
     */
    long outstandingTokens() {
      return report.outstandingTokens() + sentNow + sentBefore;
    }
  }

  Replicas(Time time, Duration expiry) {
    this.time = time;
    this.expiryNanos = expiry.toNanos();
  }

  /** Takes a report in; ignored when there are already too many replicas. */
  void heard(ReplicaReport report) {
    Known replica = known.get(report.replica());
    if (replica == null) {
      if (known.size() >= REPLICAS_MAX) {
        return;
      }
      replica = new Known(report);
      known.put(report.replica(), replica);
    }
    replica.report = report;
    replica.heardNanos = time.nanos();
    replica.sentBefore = replica.sentNow;
    replica.sentNow = 0;
  }

  /** Notes work given to a replica, in tokens. */
  void sent(ReplicaId replica, long tokens) {
    Known target = known.get(replica);
    if (target != null) {
      target.sentNow += tokens;
    }
  }

  /** Forgets the silent ones and returns them. */
  List<ReplicaId> expire() {
    List<ReplicaId> gone = new ArrayList<>();
    for (Iterator<Known> i = known.values().iterator(); i.hasNext(); ) {
      Known replica = i.next();
      if (time.nanos() - replica.heardNanos > expiryNanos) {
        gone.add(replica.report.replica());
        i.remove();
      }
    }
    return gone;
  }

  /** Forgets one whose connection is lost; its next report brings it back. */
  void forget(ReplicaId replica) {
    known.remove(replica);
  }

  int size() {
    return known.size();
  }

  /** Those that serve the model, draining ones included. */
  List<Known> of(String model) {
    return known.values().stream()
        .filter(replica -> replica.report.capacity().model().equals(model))
        .toList();
  }

  /** The most positions a Sequence can have on one of the model's replicas; 0 without any. */
  int positionsMax(String model) {
    return of(model).stream()
        .mapToInt(replica -> replica.report.capacity().positionsMax())
        .max()
        .orElse(0);
  }
}
