package firstlight.session;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SessionConfigTest {
  @Test
  void every_setting_has_a_default() {
    Settings settings = Settings.empty();
    SessionConfig config = SessionConfig.from(settings);
    assertThat(settings.problems().found()).isEmpty();
    assertThat(config.postgres())
        .isEqualTo(
            new SessionConfig.Postgres(
                "localhost",
                5432,
                "firstlight",
                "firstlight",
                "",
                4,
                1_000,
                Duration.ofSeconds(2),
                Duration.ofSeconds(5),
                Duration.ofMinutes(1),
                true));
    assertThat(config.redis())
        .isEqualTo(
            new SessionConfig.Redis(
                true,
                "redis://localhost:6379",
                "firstlight:turn:",
                Duration.ofDays(1),
                4,
                1_000,
                Duration.ofMillis(500),
                Duration.ofSeconds(15),
                1 << 20));
    assertThat(config.cache())
        .isEqualTo(
            new SessionConfig.Cache(
                true, 20_000, 64 << 20, Duration.ofMinutes(5), 10_000, Duration.ofSeconds(2)));
    assertThat(config.limits()).isEqualTo(new SessionConfig.Limits(500, 16 << 20));
    assertThat(config.attemptPause()).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void every_setting_can_be_given() {
    Settings settings =
        Settings.parse(
            """
            postgres:
              host: db.example
              port: 6432
              database: talk
              user: me
              password: ${PASSWORD}
              poolSize: 3
              waitingMax: 4
              timeout: 1s
              renewAfter: 7s
              lifetime: 2m
              migrate: false
            redis:
              enabled: false
              connection: redis://cache.example:1/2
              keyPrefix: "x:"
              ttl: 1h
              poolSize: 5
              waitingMax: 6
              timeout: 100ms
              idleTimeout: 8s
              turnCharactersMax: 70
            cache: {enabled: false, entries: 8, bytes: 1MiB, ttl: 9s, unknownEntries: 7, unknownTtl: 6s}
            history: {turns: 10, characters: 11}
            attemptPause: 12ms
            """,
            _ -> "hush");
    SessionConfig config = SessionConfig.from(settings);
    assertThat(settings.problems().found()).isEmpty();
    assertThat(config)
        .isEqualTo(
            new SessionConfig(
                new SessionConfig.Postgres(
                    "db.example",
                    6432,
                    "talk",
                    "me",
                    "hush",
                    3,
                    4,
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(7),
                    Duration.ofMinutes(2),
                    false),
                new SessionConfig.Redis(
                    false,
                    "redis://cache.example:1/2",
                    "x:",
                    Duration.ofHours(1),
                    5,
                    6,
                    Duration.ofMillis(100),
                    Duration.ofSeconds(8),
                    70),
                new SessionConfig.Cache(
                    false, 8, 1 << 20, Duration.ofSeconds(9), 7, Duration.ofSeconds(6)),
                new SessionConfig.Limits(10, 11),
                Duration.ofMillis(12)));
  }

  @Test
  void secrets_are_never_printed() {
    Settings settings =
        Settings.parse(
            "{postgres: {password: hush}, redis: {connection: 'redis://:hush@cache'}}", _ -> null);
    SessionConfig config = SessionConfig.from(settings);
    assertThat(config.postgres().password()).isEqualTo("hush");
    assertThat(config.redis().connection()).contains("hush");
    assertThat(settings.effective()).isNotEmpty().noneMatch(line -> line.contains("hush"));
    assertThat(config.toString()).doesNotContain("hush");
  }

  @Test
  void all_mistakes_are_told_at_once() {
    Settings settings =
        Settings.parse(
            """
            postgres: {prot: 1, port: 0, timeout: 6s, renewAfter: 1ms}
            redis: {ttl: 1ms}
            cache: {bytes: 1KiB, unknownTtl: 11s}
            history: {turns: 0}
            attemptPause: 0ms
            """,
            _ -> null);
    SessionConfig.from(settings);
    List<String> found = settings.problems().found();
    assertThat(found).hasSize(9);
    assertThat(String.join("\n", found))
        .contains(
            "postgres.prot is not a setting; did you mean postgres.port?",
            "postgres.port",
            "timeout must be from 1ms to 5s, not 6s",
            "renewAfter must be from 1s to 3600s, not 1ms",
            "ttl must be from 1s",
            "cache.bytes",
            "unknownTtl must be from 1ms to 10s, not 11s",
            "history.turns",
            "attemptPause must be from 1ms to 5s, not 0s");
  }

  @Test
  void services_can_be_moved_to_where_they_were_started() {
    SessionConfig config = SessionConfig.from(Settings.empty());
    SessionConfig moved =
        config
            .with(config.postgres().at("127.0.0.1", 5433))
            .with(config.redis().at("redis://127.0.0.1:6380"));
    assertThat(moved.postgres().host()).isEqualTo("127.0.0.1");
    assertThat(moved.postgres().port()).isEqualTo(5433);
    assertThat(moved.redis().connection()).isEqualTo("redis://127.0.0.1:6380");
    assertThat(moved.with(config.postgres()).with(config.redis())).isEqualTo(config);
  }
}
