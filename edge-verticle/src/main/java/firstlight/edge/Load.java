package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.TenantId;
import java.util.HashMap;
import java.util.Map;

/** Counts the requests an edge instance works on, and refuses what is too much. */
final class Load {
  private static final long RETRY_MILLIS = 1_000;

  private final int max;
  private final int tenantMax;
  private final Map<TenantId, Integer> tenants = new HashMap<>();
  private int all;

  Load(EdgeConfig.Limits limits) {
    this.max = limits.requestsMax();
    this.tenantMax = limits.tenantRequestsMax();
  }

  /**
   * Takes a place, to be given back.
   *
   * @throws MeshException there is none
   */
  void take(TenantId tenant) {
    int own = tenants.getOrDefault(tenant, 0);
    if (own >= tenantMax) {
      throw new MeshException(
          FailureKind.TENANT_LIMIT,
          "tenant_requests_exceeded",
          "You already have %d requests running, which is the most.".formatted(own),
          null,
          RETRY_MILLIS);
    }
    if (all >= max) {
      throw new MeshException(
          FailureKind.OVERLOADED,
          "requests_exceeded",
          "The service is working on as many requests as it can. Try again.",
          null,
          RETRY_MILLIS);
    }
    all++;
    tenants.put(tenant, own + 1);
  }

  void giveBack(TenantId tenant) {
    int own = tenants.getOrDefault(tenant, 0);
    if (own < 1) {
      throw new IllegalStateException("a place is given back twice");
    }
    all--;
    if (own == 1) {
      tenants.remove(tenant);
    } else {
      tenants.put(tenant, own - 1);
    }
  }
}
