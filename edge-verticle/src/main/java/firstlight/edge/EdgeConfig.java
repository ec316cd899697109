package firstlight.edge;

import firstlight.protocol.Problems;
import firstlight.protocol.Settings;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import java.time.Duration;
import java.util.List;

/**
 * Settings of the client's side.
 *
 * @param host address it listens on
 * @param port 0: any free one
 * @param open whether everybody may use it without a key, as the tenant {@code local}
 * @param tenants those who have keys
 * @param tls how it is encrypted
 * @param events how Events get to Kafka
 * @param texts what happens to text before it goes there
 * @param warmUp how long it sends itself requests for a model at most before it is ready; zero: it
 *     sends none
 * @param corsOrigins origins whose pages may call it; {@code *} for all; empty: none
 */
public record EdgeConfig(
    String host,
    int port,
    boolean open,
    List<TenantConfig> tenants,
    TlsConfig tls,
    EventsConfig events,
    TextsConfig texts,
    Duration warmUp,
    List<String> corsOrigins,
    Limits limits,
    Times times) {
  private static final int MIB = 1 << 20;

  public EdgeConfig {
    tenants = List.copyOf(tenants);
    corsOrigins = List.copyOf(corsOrigins);
  }

  /** The same for one tenant alone. */
  EdgeConfig forOnly(TenantConfig tenant) {
    return new EdgeConfig(
        host, port, false, List.of(tenant), tls, events, texts, warmUp, corsOrigins, limits, times);
  }

  /** Where clients on the same machine reach it: an address without a path. */
  public String localAddress(int port) {
    return "%s://%s:%d"
        .formatted(
            tls.isOn() ? "https" : "http", host.equals("0.0.0.0") ? "127.0.0.1" : host, port);
  }

  /**
   * What a request may be. Each is refused with a message that names the limit's value.
   *
   * @param bodyBytesMax bytes of a request's body
   * @param bodiesBytesMax bytes of all bodies an edge instance reads at a time
   * @param jsonDepthMax nesting of its JSON
   * @param jsonTokensMax values, names and brackets of its JSON
   * @param headerBytesMax bytes of all its headers
   * @param promptCharactersMax characters over all its prompts
   * @param messagesMax messages of a conversation
   * @param toolsMax tool definitions
   * @param stopStringsMax stop strings
   * @param stopCharactersMax characters of one stop string
   * @param answersMax answers of one request: prompts times n
   * @param logitBiasesMax entries of logit_bias
   * @param requestsMax requests one edge instance works on at a time
   * @param tenantRequestsMax requests of one tenant that a node works on at a time, where the
   *     tenant does not say
   * @param creditTokens tokens of an answer that a slow client may owe
   * @param writeQueueBytes bytes that wait for a slow client before its answer pauses
   * @param movesMax how often a generation goes on with another replica when its own is gone
   */
  public record Limits(
      int bodyBytesMax,
      int bodiesBytesMax,
      int jsonDepthMax,
      int jsonTokensMax,
      int headerBytesMax,
      int promptCharactersMax,
      int messagesMax,
      int toolsMax,
      int stopStringsMax,
      int stopCharactersMax,
      int answersMax,
      int logitBiasesMax,
      int requestsMax,
      int tenantRequestsMax,
      int creditTokens,
      int writeQueueBytes,
      int movesMax) {}

  /**
   * How long things may take.
   *
   * @param bodyTimeout for a request's body to arrive
   * @param idleTimeout for a connection without a request
   * @param keepAlive longest silence of a stream; so long its status waits for the first token or a
   *     refusal
   * @param stallTimeout how long a client may read nothing before its answer ends
   * @param replicaExpiry silence after which a replica counts as gone
   * @param moveTimeout how long a generation whose replica is gone waits for another one
   */
  public record Times(
      Duration bodyTimeout,
      Duration idleTimeout,
      Duration keepAlive,
      Duration stallTimeout,
      Duration replicaExpiry,
      Duration moveTimeout) {}

  /** What is configured for a tenant; one that is not named has no limits of its own. */
  TenantConfig tenant(TenantId id) {
    return tenants.stream()
        .filter(one -> one.id().equals(id))
        .findFirst()
        .orElseGet(() -> TenantConfig.unlimited(id, limits.tenantRequestsMax()));
  }

  /**
   * What of a tenant's text may be kept in Events.
   *
   * @param store whether the request lets it be kept at all
   */
  TextPolicy text(TenantId tenant, boolean store) {
    return store ? tenant(tenant).text() : TextPolicy.NONE;
  }

  /**
   * Reads the section {@code edge}; mistakes are noted in its {@link Settings#problems()}.
   *
   * @param settings the section itself
   */
  public static EdgeConfig read(Settings settings) {
    boolean open = settings.flag("open", false);
    Limits limits = limits(settings.section("limits"));
    EdgeConfig config =
        new EdgeConfig(
            settings.text("host", "127.0.0.1"),
            settings.integer("port", 8080, 0, 65_535),
            open,
            TenantConfig.readAll(settings, open, limits.tenantRequestsMax()),
            TlsConfig.read(settings.section("tls")),
            EventsConfig.read(settings.section("kafka"), settings.section("spool")),
            TextsConfig.read(settings.section("texts")),
            settings.duration("warmUp", Duration.ofSeconds(5)),
            settings.texts("corsOrigins", List.of()),
            limits,
            times(settings.section("times")));
    settings
        .problems()
        .require(
            open || !config.tenants.isEmpty(),
            "edge.tenants is empty: name a tenant with a key, or set edge.open to true");
    settings.done();
    return config;
  }

  private static Limits limits(Settings limits) {
    Limits read =
        new Limits(
            size(limits, "bodyBytesMax", 16 * MIB),
            size(limits, "bodiesBytesMax", 128 * MIB),
            limits.integer("jsonDepthMax", 100, 10, 1_000),
            limits.integer("jsonTokensMax", 1_000_000, 1_000, 100_000_000),
            size(limits, "headerBytesMax", 32 << 10),
            limits.integer("promptCharactersMax", 4_000_000, 1, Integer.MAX_VALUE),
            limits.integer("messagesMax", 4_096, 1, 1_000_000),
            limits.integer("toolsMax", 128, 0, 10_000),
            limits.integer("stopStringsMax", 16, 0, 1_000),
            limits.integer("stopCharactersMax", 1_024, 1, 100_000),
            limits.integer("answersMax", 64, 1, 10_000),
            limits.integer("logitBiasesMax", 1_024, 0, 1_000_000),
            limits.integer("requestsMax", 4_096, 1, 1_000_000),
            limits.integer("tenantRequestsMax", 2_048, 1, 1_000_000),
            limits.integer("creditTokens", 256, 1, 1_000_000),
            size(limits, "writeQueueBytes", 64 << 10),
            limits.integer("movesMax", 4, 0, 1_000));
    limits
        .problems()
        .require(
            read.bodiesBytesMax >= read.bodyBytesMax,
            "edge.limits.bodiesBytesMax must be at least edge.limits.bodyBytesMax");
    limits.done();
    return read;
  }

  private static int size(Settings limits, String key, int fallback) {
    long bytes = limits.bytes(key, fallback);
    limits
        .problems()
        .require(
            bytes >= 1_024 && bytes <= 256L * MIB,
            "edge.limits.%s must be from 1KiB to 256MiB".formatted(key));
    return (int) Math.clamp(bytes, 1_024, 256L * MIB);
  }

  private static Times times(Settings times) {
    Times read =
        new Times(
            times.duration("bodyTimeout", Duration.ofSeconds(30)),
            times.duration("idleTimeout", Duration.ofSeconds(75)),
            times.duration("keepAlive", Duration.ofSeconds(10)),
            times.duration("stallTimeout", Duration.ofSeconds(60)),
            times.duration("replicaExpiry", Duration.ofSeconds(3)),
            times.duration("moveTimeout", Duration.ofSeconds(20)));
    Problems problems = times.problems();
    problems.require(
        read.keepAlive.compareTo(Duration.ofSeconds(15)) <= 0
            && read.keepAlive.compareTo(Duration.ofMillis(10)) >= 0,
        "edge.times.keepAlive must be from 10ms to 15s");
    problems.require(
        read.idleTimeout.compareTo(Duration.ofMillis(100)) >= 0
            && read.idleTimeout.compareTo(Duration.ofHours(24)) <= 0,
        "edge.times.idleTimeout must be from 100ms to 24h");
    times.done();
    return read;
  }
}
