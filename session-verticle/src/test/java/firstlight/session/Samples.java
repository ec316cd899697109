package firstlight.session;

import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.Usage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns for tests. */
final class Samples {
  static final Allowance PLENTY = new Allowance(100, 1 << 20);

  private Samples() {}

  static StoredTurn turn(String tenant, String response, @Nullable String parent) {
    return turn(tenant, response, parent, "[{\"text\":\"to " + response + "\"}]");
  }

  static StoredTurn turn(String tenant, String response, @Nullable String parent, String input) {
    return new StoredTurn(
        new ResponseId(response),
        new TenantId(tenant),
        parent == null ? null : new ResponseId(parent),
        "smollm2-135m",
        1_790_000_000_123L,
        "completed",
        input,
        "[{\"text\":\"from " + response + "\"}]",
        "{\"id\":\"" + response + "\"}",
        new Usage(31, 16, 7));
  }

  /** Turns r1 to r‹length›, each building on the one before, oldest first. */
  static List<StoredTurn> conversation(String tenant, int length) {
    List<StoredTurn> turns = new ArrayList<>();
    for (int i = 1; i <= length; i++) {
      turns.add(turn(tenant, "r" + i, i == 1 ? null : "r" + (i - 1)));
    }
    return turns;
  }

  static TurnKey key(String tenant, String response) {
    return new TurnKey(new TenantId(tenant), new ResponseId(response));
  }
}
