package firstlight.session;

import firstlight.protocol.StoredTurn;

/**
 * How much more of a chain may be read. A chain ends at the turn that uses it up, which is still
 * read, so that its reader sees that there was too much.
 *
 * @param turns at least 0
 * @param characters of JSON; below 0 once there was too much
 */
record Allowance(int turns, long characters) {
  boolean usedUp() {
    return turns <= 0 || characters < 0;
  }

  Allowance less(StoredTurn turn) {
    return new Allowance(turns - 1, characters - characters(turn));
  }

  static int characters(StoredTurn turn) {
    return turn.input().length() + turn.output().length() + turn.resource().length();
  }
}
