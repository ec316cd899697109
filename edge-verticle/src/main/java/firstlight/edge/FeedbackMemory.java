package firstlight.edge;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import firstlight.protocol.TenantId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The feedback this node took lately, to tell a repeat from a change. Thread-safe; the instances of
 * the edge on a node share one.
 *
 * <p>It holds the last {@value #ENTRIES_MAX} ids for at most a day. Of others {@link FeedbackKnown}
 * may know.
 */
final class FeedbackMemory implements Shareable {
  static final int ENTRIES_MAX = 100_000;
  private static final Duration AGE_MAX = Duration.ofDays(1);
  private static final String NAME = "firstlight.edge.feedback";

  private final Cache<Key, Taken> cache =
      Caffeine.newBuilder().maximumSize(ENTRIES_MAX).expireAfterWrite(AGE_MAX).build();

  private record Key(TenantId tenant, String id) {}

  /**
   * @param digest of what was said
   * @param durable completes when it can not be lost any more
   */
  record Taken(String digest, Future<Void> durable) {}

  /** The one of this node. */
  static FeedbackMemory of(Vertx vertx) {
    return vertx
        .sharedData()
        .<String, FeedbackMemory>getLocalMap(NAME)
        .computeIfAbsent(NAME, _ -> new FeedbackMemory());
  }

  /** Notes it, unless there is one with this id: that one is returned. */
  @Nullable Taken note(TenantId tenant, String id, Taken taken) {
    return cache.asMap().putIfAbsent(new Key(tenant, id), taken);
  }

  /** It was not taken after all. */
  void forget(TenantId tenant, String id, Taken taken) {
    cache.asMap().remove(new Key(tenant, id), taken);
  }
}
