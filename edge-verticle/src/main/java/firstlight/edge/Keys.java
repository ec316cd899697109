package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.Sha256;
import firstlight.protocol.TenantId;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

/**
 * Finds the tenant by the API key. Only SHA-256 digests of keys are held, and every digest is
 * looked at in constant time, so the time of an answer says nothing about a key.
 */
final class Keys {
  /** The tenant of everybody where no key is asked for. */
  static final TenantId LOCAL = new TenantId("local");

  /** Anthropic's header for it. */
  static final String HEADER = "x-api-key";

  private static final int KEY_CHARACTERS_MAX = 512;
  private static final String SCHEME = "bearer ";
  private static final String BASIC = "basic ";

  private final boolean open;
  private final List<Entry> entries;

  private record Entry(byte[] digest, TenantId tenant) {}

  Keys(EdgeConfig config) {
    this.open = config.open();
    this.entries =
        config.tenants().stream()
            .flatMap(
                tenant ->
                    tenant.keyDigests().stream()
                        .map(hex -> new Entry(HexFormat.of().parseHex(hex), tenant.id())))
            .toList();
  }

  /**
   * Who sends the request: {@code Authorization: Bearer KEY} or {@code x-api-key: KEY}, each at
   * most once, and for the same tenant where both are there.
   *
   * @throws MeshException of kind UNAUTHENTICATED
   */
  TenantId tenant(HttpServerRequest request) {
    List<String> authorizations = request.headers().getAll(HttpHeaders.AUTHORIZATION);
    return tenant(
        FeedbackRoute.LANGFUSE.equals(request.path())
            ? authorizations.stream().map(Keys::passwordAsBearer).toList()
            : authorizations,
        request.headers().getAll(HEADER));
  }

  /** Langfuse's clients have a public and a secret key, and send them as user and password. */
  private static String passwordAsBearer(String authorization) {
    if (!authorization.regionMatches(true, 0, BASIC, 0, BASIC.length())) {
      return authorization;
    }
    try {
      byte[] pair = Base64.getDecoder().decode(authorization.substring(BASIC.length()).trim());
      String text = new String(pair, StandardCharsets.UTF_8);
      int colon = text.indexOf(':');
      return colon < 0 ? authorization : SCHEME + text.substring(colon + 1);
    } catch (IllegalArgumentException _) {
      return authorization;
    }
  }

  /**
   * @param bearers values of Authorization
   * @param plain values of x-api-key
   */
  TenantId tenant(List<String> bearers, List<String> plain) {
    if (open) {
      return LOCAL;
    }
    if (bearers.size() > 1 || plain.size() > 1 || bearers.isEmpty() && plain.isEmpty()) {
      throw missing();
    }
    List<TenantId> tenants = new ArrayList<>();
    for (String bearer : bearers) {
      if (!bearer.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
        throw missing();
      }
      tenants.add(tenantOf(bearer.substring(SCHEME.length()).trim()));
    }
    plain.forEach(key -> tenants.add(tenantOf(key.trim())));
    if (!tenants.getFirst().equals(tenants.getLast())) {
      throw refused("Two API keys are given, of different tenants. Send one.");
    }
    return tenants.getFirst();
  }

  private TenantId tenantOf(String key) {
    if (key.isEmpty() || key.length() > KEY_CHARACTERS_MAX) {
      throw refused("The API key is not known here.");
    }
    byte[] digest = Sha256.begin().digest(key.getBytes(StandardCharsets.UTF_8));
    TenantId found = null;
    for (Entry entry : entries) {
      if (MessageDigest.isEqual(digest, entry.digest())) {
        found = entry.tenant();
      }
    }
    if (found == null) {
      throw refused("The API key is not known here.");
    }
    return found;
  }

  /** Hexadecimal SHA-256 of a key's UTF-8. */
  static String digest(String key) {
    return Sha256.hex(key);
  }

  private static MeshException missing() {
    return refused(
        "No API key is given. Send it in the header Authorization: Bearer YOUR_KEY, once.");
  }

  private static MeshException refused(String message) {
    return new MeshException(FailureKind.UNAUTHENTICATED, "invalid_api_key", message);
  }
}
