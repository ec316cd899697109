package firstlight.session;

import firstlight.protocol.FailureKind;
import firstlight.protocol.History;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A history while it is put together, newest turn first. It knows which turn is missing next and
 * refuses to grow over its limits.
 */
final class Lineage {
  private final TurnKey asked;
  private final Allowance limits;
  private final List<StoredTurn> turns = new ArrayList<>();
  private Allowance left;
  private @Nullable ResponseId missing;

  Lineage(TurnKey asked, Allowance limits) {
    this.asked = asked;
    this.limits = limits;
    this.left = limits;
    this.missing = asked.response();
  }

  boolean complete() {
    return missing == null;
  }

  /** The turn to look for next; only while the lineage is not complete. */
  TurnKey missing() {
    if (missing == null) {
      throw new IllegalStateException("nothing is missing");
    }
    return new TurnKey(asked.tenant(), missing);
  }

  Allowance left() {
    return left;
  }

  /**
   * Adds what a tier has found, newest first.
   *
   * @throws MeshException when the history is longer than one may be
   */
  void add(List<StoredTurn> chain) {
    for (StoredTurn turn : chain) {
      if (!TurnKey.of(turn).equals(missing())) {
        throw new IllegalStateException("a tier answered with a turn that was not asked for");
      }
      turns.add(turn);
      left = left.less(turn);
      missing = turn.parent();
      if (left.characters() < 0 || (left.turns() <= 0 && missing != null)) {
        throw tooLong();
      }
    }
  }

  /**
   * @throws MeshException when a turn of it is in no tier; which one is not told, so that an id of
   *     another tenant, a deleted one and one that never was give the same answer
   */
  History history() {
    if (missing != null) {
      throw new MeshException(
          FailureKind.NOT_FOUND,
          "previous_response_not_found",
          ("The response '%s', or one that it builds on, is not stored."
                  + " Send the conversation so far as input instead.")
              .formatted(asked.response()),
          "previous_response_id",
          0);
    }
    return new History(turns.reversed());
  }

  private MeshException tooLong() {
    return new MeshException(
        FailureKind.TOO_LARGE,
        "history_too_long",
        ("The history of the response '%s' has more than %d turns or more than %d characters."
                + " Start a new conversation, with a summary of this one as its input.")
            .formatted(asked.response(), limits.turns(), limits.characters()),
        "previous_response_id",
        0);
  }
}
