package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.TenantId;

/** Counts the requests that are worked on, and refuses what is too much. */
final class Load {
  private static final long RETRY_MILLIS = 1_000;

  private final int max;
  private final TenantPlaces tenants;
  private int all;

  /**
   * @param max requests of this edge instance
   * @param tenants places that it shares with the others
   */
  Load(int max, TenantPlaces tenants) {
    this.max = max;
    this.tenants = tenants;
  }

  /**
   * Takes a place, to be given back.
   *
   * @throws MeshException there is none
   */
  void take(TenantConfig tenant) {
    if (all >= max) {
      throw new MeshException(
          FailureKind.OVERLOADED,
          "requests_exceeded",
          "The service is working on as many requests as it can. Try again.",
          null,
          RETRY_MILLIS);
    }
    if (!tenants.take(tenant.id(), tenant.requestsMax())) {
      throw new MeshException(
          FailureKind.TENANT_LIMIT,
          "tenant_requests_exceeded",
          "You already have %d requests running, which is the most. Try again when one has ended."
              .formatted(tenant.requestsMax()),
          null,
          RETRY_MILLIS);
    }
    all++;
  }

  void giveBack(TenantId tenant) {
    tenants.giveBack(tenant);
    all--;
  }
}
