package firstlight.edge;

import firstlight.protocol.Numerics;
import firstlight.protocol.ReplicaReport;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the replica for a generation: never one that is draining or too small; one with the same
 * numerics as it began with, where there is one; then the one with the fewest tokens still to be
 * computed; among equals the first one heard of.
 */
final class Placement {
  private Placement() {}

  /**
   * What a generation needs.
   *
   * @param positions of the Sequence: its prompt and one token at least
   * @param begun the numerics of its first tokens; null: it has none
   */
  record Need(int positions, @Nullable Numerics begun) {
    private boolean isOther(Replicas.Known replica) {
      return begun != null && !begun.equals(replica.report().capacity().numerics());
    }
  }

  /**
   * @param replicas of the model
   * @param usable whether a replica may be chosen, and there is a way to it right now
   */
  static Optional<ReplicaReport> choose(
      List<Replicas.Known> replicas, Need need, Predicate<ReplicaReport> usable) {
    return replicas.stream()
        .filter(replica -> isLargeEnough(replica.report(), need) && usable.test(replica.report()))
        .min(
            Comparator.comparing(need::isOther)
                .thenComparingLong(Replicas.Known::outstandingTokens))
        .map(Replicas.Known::report);
  }

  private static boolean isLargeEnough(ReplicaReport report, Need need) {
    return !report.draining() && report.capacity().positionsMax() >= need.positions;
  }
}
