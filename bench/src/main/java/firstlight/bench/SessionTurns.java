package firstlight.bench;

import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.Usage;

/**
 * Sessions that are made up.
 *
 * @param sessions how many
 * @param turns of each
 * @param characters of each turn
 */
record SessionTurns(int sessions, int turns, int characters) {
  private static final TenantId TENANT = new TenantId("bench");

  TenantId tenant() {
    return TENANT;
  }

  /** The last turn of a session: a look-up of it reads all. */
  ResponseId newest(int session) {
    return id(session, turns - 1);
  }

  StoredTurn turn(int session, int number) {
    String text = "[\"" + "x".repeat(Math.max(1, characters / 3 - 4)) + "\"]";
    return new StoredTurn(
        id(session, number),
        TENANT,
        number == 0 ? null : id(session, number - 1),
        "bench",
        1_790_000_000_000L + number,
        "completed",
        text,
        text,
        text,
        new Usage(100, 0, 100));
  }

  private static ResponseId id(int session, int number) {
    return new ResponseId("resp_%d_%d".formatted(session, number));
  }
}
