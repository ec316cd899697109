package firstlight.edge;

import firstlight.protocol.Problems;
import firstlight.protocol.Settings;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Who pays, and what is theirs.
 *
 * @param keyDigests hexadecimal SHA-256 of each of its keys
 * @param text what of its text may be kept in Events
 * @param contextMax positions one of its Sequences can have: prompt and answer together
 * @param outputMax most tokens of one of its answers
 * @param requestsMax requests of it that a node works on at a time
 * @param firstTokenMax how long it waits for a first token where the request does not say; zero: as
 *     long as the replica says
 */
public record TenantConfig(
    TenantId id,
    List<String> keyDigests,
    TextPolicy text,
    int contextMax,
    int outputMax,
    int requestsMax,
    Duration firstTokenMax) {
  private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{64}");
  private static final Duration FIRST_TOKEN_MAX = Duration.ofMinutes(10);

  public TenantConfig {
    keyDigests = List.copyOf(keyDigests);
  }

  /** One without a key, and without limits of its own. */
  static TenantConfig unlimited(TenantId id, int requestsMax) {
    return new TenantConfig(
        id,
        List.of(),
        TextPolicy.FULL,
        Integer.MAX_VALUE,
        Integer.MAX_VALUE,
        requestsMax,
        Duration.ZERO);
  }

  /**
   * Reads {@code edge.tenants}; mistakes are noted in the problems.
   *
   * @param open whether a tenant needs no key
   * @param requestsMax of those that do not say
   */
  static List<TenantConfig> readAll(Settings edge, boolean open, int requestsMax) {
    List<TenantConfig> tenants = new ArrayList<>();
    for (Map.Entry<String, Settings> entry : edge.named("tenants").entrySet()) {
      try {
        TenantId id = new TenantId(entry.getKey());
        tenants.add(read(id, entry.getValue(), open, requestsMax));
      } catch (IllegalArgumentException e) {
        edge.problems().add("edge.tenants.%s: %s".formatted(entry.getKey(), e.getMessage()));
      }
    }
    return tenants;
  }

  private static TenantConfig read(TenantId id, Settings section, boolean open, int requestsMax) {
    TenantConfig tenant =
        new TenantConfig(
            id,
            digests(id, section, open),
            section.choice("text", TextPolicy.FULL),
            section.integer("contextMax", Integer.MAX_VALUE, 2, Integer.MAX_VALUE),
            section.integer("outputMax", Integer.MAX_VALUE, 1, Integer.MAX_VALUE),
            section.integer("requestsMax", requestsMax, 1, 1_000_000),
            section.duration("firstTokenMax", Duration.ZERO));
    section
        .problems()
        .require(
            tenant.firstTokenMax.compareTo(FIRST_TOKEN_MAX) <= 0,
            "edge.tenants.%s.firstTokenMax must be at most 10m".formatted(id));
    section.done();
    return tenant;
  }

  private static List<String> digests(TenantId id, Settings section, boolean open) {
    Problems problems = section.problems();
    List<String> digests = new ArrayList<>();
    String key = section.secret("key", "");
    if (!key.isEmpty()) {
      digests.add(Keys.digest(key));
    }
    for (String digest : section.texts("keySha256", List.of())) {
      problems.require(
          DIGEST.matcher(digest).matches(),
          "edge.tenants.%s.keySha256 must be 64 hexadecimal digits".formatted(id));
      digests.add(digest);
    }
    problems.require(
        open || !digests.isEmpty(), "edge.tenants.%s needs a key or a keySha256".formatted(id));
    return digests;
  }
}
