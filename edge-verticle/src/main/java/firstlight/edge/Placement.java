package firstlight.edge;

import firstlight.protocol.ReplicaReport;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Chooses the replica for a generation: never one that is draining or too small, then the one with
 * the fewest tokens still to be computed; among equals the first one heard of.
 */
final class Placement {
  private Placement() {}

  /**
   * @param replicas of the model
   * @param positions the Sequence may need: its prompt and one token at least
   * @param reachable whether there is a way to a replica right now
   */
  static Optional<ReplicaReport> choose(
      List<Replicas.Known> replicas, int positions, Predicate<ReplicaReport> reachable) {
    Replicas.Known best = null;
    for (Replicas.Known replica : replicas) {
      ReplicaReport report = replica.report();
      if (!report.draining()
          && report.capacity().contextMax() >= positions
          && reachable.test(report)
          && (best == null || replica.outstandingTokens() < best.outstandingTokens())) {
        best = replica;
      }
    }
    return Optional.ofNullable(best).map(Replicas.Known::report);
  }
}
