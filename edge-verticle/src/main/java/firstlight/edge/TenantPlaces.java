package firstlight.edge;

import firstlight.protocol.TenantId;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the requests of each tenant over all edge instances of a JVM. Thread-safe. */
final class TenantPlaces implements Shareable {
  private static final String KEY = TenantPlaces.class.getName();

  private final ConcurrentHashMap<TenantId, AtomicInteger> taken = new ConcurrentHashMap<>();

  TenantPlaces() {}

  /** The one of that Vert.x. */
  static TenantPlaces of(Vertx vertx) {
    return vertx
        .sharedData()
        .<String, TenantPlaces>getLocalMap(KEY)
        .computeIfAbsent(KEY, _ -> new TenantPlaces());
  }

  /** Takes a place, unless the tenant has as many as it may. */
  boolean take(TenantId tenant, int max) {
    AtomicInteger own = taken.computeIfAbsent(tenant, _ -> new AtomicInteger());
    return own.getAndUpdate(now -> now < max ? now + 1 : now) < max;
  }

  void giveBack(TenantId tenant) {
    AtomicInteger own = taken.get(tenant);
    if (own == null || own.decrementAndGet() < 0) {
      throw new IllegalStateException("a place is given back twice");
    }
  }
}
