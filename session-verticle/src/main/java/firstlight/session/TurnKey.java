package firstlight.session;

import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;

/** Where a turn lies in every tier: never without its tenant. */
record TurnKey(TenantId tenant, ResponseId response) {
  static TurnKey of(StoredTurn turn) {
    return new TurnKey(turn.tenant(), turn.response());
  }
}
