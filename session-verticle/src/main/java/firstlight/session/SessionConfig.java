package firstlight.session;

import firstlight.protocol.Settings;
import java.time.Duration;

/**
 * What the session verticle is told: the section {@code session} of the configuration.
 *
 * @param attemptPause between two attempts to reach a service that is away
 */
public record SessionConfig(
    Postgres postgres, Redis redis, Cache cache, Limits limits, Duration attemptPause) {
  private static final Duration MILLISECOND = Duration.ofMillis(1);

  /**
   * The durable tier.
   *
   * @param password empty: none is sent
   * @param poolSize connections of one verticle instance
   * @param waitingMax requests that may wait for a connection; one more is refused
   * @param timeout of one request, the wait for a connection included
   * @param renewAfter age at which all connections are replaced when a request got no answer, or
   *     the answer that the server only reads
   * @param lifetime of a connection
   * @param migrate whether to bring the tables up to date at the start
   */
  public record Postgres(
      String host,
      int port,
      String database,
      String user,
      String password,
      int poolSize,
      int waitingMax,
      Duration timeout,
      Duration renewAfter,
      Duration lifetime,
      boolean migrate) {
    static Postgres from(Settings settings) {
      Postgres postgres =
          new Postgres(
              settings.text("host", "localhost"),
              settings.integer("port", 5432, 1, 65_535),
              settings.text("database", "firstlight"),
              settings.text("user", "firstlight"),
              settings.secret("password", ""),
              settings.integer("poolSize", 4, 1, 1_000),
              settings.integer("waitingMax", 1_000, 1, 100_000),
              span(settings, "timeout", Duration.ofSeconds(2), MILLISECOND, Duration.ofSeconds(5)),
              span(
                  settings,
                  "renewAfter",
                  Duration.ofSeconds(5),
                  Duration.ofSeconds(1),
                  Duration.ofHours(1)),
              span(
                  settings,
                  "lifetime",
                  Duration.ofMinutes(1),
                  Duration.ofSeconds(1),
                  Duration.ofDays(1)),
              settings.flag("migrate", true));
      settings.done();
      return postgres;
    }

    /** The same, elsewhere: for a server that was started a moment ago. */
    public Postgres at(String host, int port) {
      return new Postgres(
          host,
          port,
          database,
          user,
          password,
          poolSize,
          waitingMax,
          timeout,
          renewAfter,
          lifetime,
          migrate);
    }

    @Override
    public String toString() {
      return "%s@%s:%d/%s".formatted(user, host, port, database);
    }
  }

  /**
   * The tier that the nodes of a region share.
   *
   * @param enabled false: look-ups go from the local cache straight to PostgreSQL
   * @param connection as redis://user:password@host:port/database; never printed
   * @param keyPrefix of every key
   * @param ttl of a cached turn
   * @param poolSize connections of one verticle instance
   * @param waitingMax requests that may wait for a connection; one more passes Redis by
   * @param timeout of one request, the wait for a connection included
   * @param renewAfter after which a silent connection is closed; also bounds how long one is kept
   *     whose other end is gone without a word
   * @param turnCharactersMax a larger turn is not cached
   */
  public record Redis(
      boolean enabled,
      String connection,
      String keyPrefix,
      Duration ttl,
      int poolSize,
      int waitingMax,
      Duration timeout,
      Duration idleTimeout,
      int turnCharactersMax) {
    static Redis from(Settings settings) {
      Redis redis =
          new Redis(
              settings.flag("enabled", true),
              settings.secret("connection", "redis://localhost:6379"),
              settings.text("keyPrefix", "firstlight:turn:"),
              span(
                  settings, "ttl", Duration.ofDays(1), Duration.ofSeconds(1), Duration.ofDays(365)),
              settings.integer("poolSize", 4, 1, 1_000),
              settings.integer("waitingMax", 1_000, 1, 100_000),
              span(settings, "timeout", Duration.ofMillis(500), MILLISECOND, Duration.ofSeconds(2)),
              span(
                  settings,
                  "idleTimeout",
                  Duration.ofSeconds(15),
                  Duration.ofSeconds(3),
                  Duration.ofHours(1)),
              settings.integer("turnCharactersMax", 1 << 20, 1, 16 << 20));
      settings.done();
      return redis;
    }

    /** The same, elsewhere: for a server that was started a moment ago. */
    public Redis at(String connection) {
      return new Redis(
          enabled,
          connection,
          keyPrefix,
          ttl,
          poolSize,
          waitingMax,
          timeout,
          idleTimeout,
          turnCharactersMax);
    }

    @Override
    public String toString() {
      return enabled ? "with keys %s*".formatted(keyPrefix) : "disabled";
    }
  }

  /**
   * This node's memory.
   *
   * @param entries turns at most
   * @param bytes at most, as estimated
   * @param ttl since a turn was put there; bounds how long a node that missed the announcement of a
   *     deletion still answers with the turn
   * @param unknownEntries turns at most that are remembered not to exist, beside those above
   * @param unknownTtl how long they are; bounds how long a turn that another node or region stores
   *     can seem to be missing here
   */
  public record Cache(
      boolean enabled,
      int entries,
      long bytes,
      Duration ttl,
      int unknownEntries,
      Duration unknownTtl) {
    static Cache from(Settings settings) {
      Cache cache =
          new Cache(
              settings.flag("enabled", true),
              settings.integer("entries", 20_000, 1, 10_000_000),
              settings.bytes("bytes", 64L << 20),
              span(
                  settings,
                  "ttl",
                  Duration.ofMinutes(5),
                  Duration.ofSeconds(1),
                  Duration.ofHours(1)),
              settings.integer("unknownEntries", 10_000, 1, 1_000_000),
              span(
                  settings,
                  "unknownTtl",
                  Duration.ofSeconds(2),
                  MILLISECOND,
                  Duration.ofSeconds(10)));
      settings
          .problems()
          .require(
              cache.bytes >= 1 << 16 && cache.bytes <= 1L << 40,
              "session.cache.bytes must be from 64KiB to 1024GiB");
      settings.done();
      return cache;
    }
  }

  /**
   * What one history may have; a longer one is refused.
   *
   * @param turns at most
   * @param characters of JSON at most, in all its turns
   */
  public record Limits(int turns, long characters) {
    static Limits from(Settings settings) {
      Limits limits =
          new Limits(
              settings.integer("turns", 500, 1, 10_000),
              settings.whole("characters", 16L << 20, 1, 256L << 20));
      settings.done();
      return limits;
    }
  }

  /** Mistakes are noted in the settings' problems. */
  public static SessionConfig from(Settings settings) {
    SessionConfig config =
        new SessionConfig(
            Postgres.from(settings.section("postgres")),
            Redis.from(settings.section("redis")),
            Cache.from(settings.section("cache")),
            Limits.from(settings.section("history")),
            span(
                settings,
                "attemptPause",
                Duration.ofSeconds(1),
                MILLISECOND,
                Duration.ofSeconds(5)));
    settings.done();
    return config;
  }

  public SessionConfig with(Postgres other) {
    return new SessionConfig(other, redis, cache, limits, attemptPause);
  }

  public SessionConfig with(Redis other) {
    return new SessionConfig(postgres, other, cache, limits, attemptPause);
  }

  private static Duration span(
      Settings settings, String key, Duration fallback, Duration min, Duration max) {
    Duration value = settings.duration(key, fallback);
    if (value.compareTo(min) >= 0 && value.compareTo(max) <= 0) {
      return value;
    }
    settings
        .problems()
        .add(
            "session: %s must be from %s to %s, not %s"
                .formatted(key, text(min), text(max), text(value)));
    return fallback;
  }

  private static String text(Duration span) {
    return span.toMillis() % 1_000 == 0 ? span.toSeconds() + "s" : span.toMillis() + "ms";
  }
}
