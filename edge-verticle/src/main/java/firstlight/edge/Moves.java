package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.Time;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Answers whose replica is gone. Each goes on with another replica from the tokens that came, or
 * with the same one if that is there again; one that finds none in time, or has lost too many,
 * fails with what its replica's loss was called. The answer of a client that does not read waits
 * until it does: nothing is computed for it meanwhile.
 */
final class Moves {
  /** Beside lost devices, what a replica says that can not go on. */
  private static final Set<String> CODES =
      Set.of("replica_stopping", "no_device", Turn.REPLICA_STOPPED);

  private static final long LOOK_MILLIS = 50;

  /** A replica's own report that it takes nothing may come after its refusal. */
  private static final long AVOIDED_MILLIS = 300;

  private final Vertx vertx;
  private final ReplicaLinks links;
  private final EdgeMetrics metrics;
  private final Time time;
  private final int movesMax;
  private final Duration timeout;
  private final Map<Answer, Lost> lost = new LinkedHashMap<>();
  private boolean isLooking;

  /** When it was that a replica did not go on with an answer. */
  private record Lost(ReplicaId replica, MeshException failure, long nanos) {}

  Moves(Vertx vertx, ReplicaLinks links, EdgeMetrics metrics, Time time, EdgeConfig config) {
    this.vertx = vertx;
    this.links = links;
    this.metrics = metrics;
    this.time = time;
    movesMax = config.limits().movesMax();
    timeout = config.times().moveTimeout();
  }

  /**
   * Takes an answer that its replica does not go on with.
   *
   * @return whether it may go on elsewhere; otherwise it has failed
   */
  boolean take(Answer answer, ReplicaId from, MeshException failure) {
    // One that was at work elsewhere waits for room, where others would be sent away.
    boolean isFull = failure.kind() == FailureKind.OVERLOADED && answer.losses() > 0;
    if (!isFull && (!isLoss(failure) || answer.losses() >= movesMax)) {
      return false;
    }
    if (!isFull) {
      answer.lost();
      metrics.lost(failure.code());
    }
    lost.put(answer, new Lost(from, failure, time.nanos()));
    // Not at once: others that the same loss hits have not been told yet.
    look(0);
    return true;
  }

  private static boolean isLoss(MeshException failure) {
    return failure.kind() == FailureKind.DEVICE_LOST || CODES.contains(failure.code());
  }

  private void look(long millis) {
    if (!isLooking) {
      isLooking = true;
      if (millis == 0) {
        vertx.runOnContext(_ -> look());
      } else {
        vertx.setTimer(millis, _ -> look());
      }
    }
  }

  private void look() {
    isLooking = false;
    for (Map.Entry<Answer, Lost> each : List.copyOf(lost.entrySet())) {
      look(each.getKey(), each.getValue());
    }
    if (!lost.isEmpty()) {
      look(LOOK_MILLIS);
    }
  }

  private void look(Answer answer, Lost loss) {
    if (answer.ended()) {
      lost.remove(answer);
    } else if (!answer.turn().paused()) {
      ReplicaReport replica = place(answer, loss).orElse(null);
      if (replica != null) {
        lost.remove(answer);
        answer.goOn(replica, links.link(replica.replica()).orElseThrow());
      } else if (time.nanos() - answer.lostNanos() >= timeout.toNanos() || isTooLate(answer)) {
        lost.remove(answer);
        answer.giveUp(loss.failure);
      }
    }
  }

  /** A client that waits for a first token in time can go elsewhere itself. */
  private boolean isTooLate(Answer answer) {
    long deadline = answer.spec().deadline();
    return !answer.begun() && deadline > 0 && time.epochMillis() >= deadline;
  }

  private Optional<ReplicaReport> place(Answer answer, Lost loss) {
    long sinceMillis = (time.nanos() - loss.nanos) / 1_000_000;
    @Nullable ReplicaId avoided = sinceMillis < AVOIDED_MILLIS ? loss.replica : null;
    return links.place(answer.spec().model(), answer.need(), replica -> !replica.equals(avoided));
  }
}
