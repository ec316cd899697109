package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class EventsConfigTest {
  @Test
  void everything_has_a_default() {
    Settings settings = Settings.empty();

    EventsConfig config = EventsConfig.read(settings.section("kafka"), settings.section("spool"));

    assertThat(settings.problems().found()).isEmpty();
    assertThat(config.topic()).isEqualTo("firstlight.events");
    assertThat(config.bootstrap()).isEqualTo("127.0.0.1:9092");
    assertThat(config.acceptLimit()).isLessThan(Duration.ofSeconds(1));
    assertThat(config.spool())
        .isEqualTo(
            new SpoolConfig(
                "data/event-spool", 1 << 30, 8 << 20, 256 << 20, SpoolConfig.WhenFull.DETAIL));
  }

  @Test
  void explicit_values_are_taken() {
    Settings settings =
        Settings.parse(
            """
            kafka: {bootstrap: 'a:1', topic: t, waitingMax: 5, waitingBytesMax: 1MiB,
                eventBytesMax: 128KiB, transactionEventsMax: 7, transactionBytesMax: 2MiB, linger: 3ms,
                acceptLimit: 4s, closeLimit: 5s}
            spool: {folder: f, bytesMax: 1MiB, segmentBytes: 64KiB, freeBytesMin: 1KiB,
                whenFull: oldest}
            """,
            _ -> null);

    EventsConfig config = EventsConfig.read(settings.section("kafka"), settings.section("spool"));

    assertThat(settings.problems().found()).isEmpty();
    assertThat(config)
        .isEqualTo(
            new EventsConfig(
                "a:1",
                "t",
                5,
                1 << 20,
                128 << 10,
                7,
                2 << 20,
                Duration.ofMillis(3),
                Duration.ofSeconds(4),
                Duration.ofSeconds(5),
                new SpoolConfig("f", 1 << 20, 64 << 10, 1 << 10, SpoolConfig.WhenFull.OLDEST)));
  }

  @Test
  void its_settings_have_bounds_that_fit_each_other() {
    Settings settings =
        Settings.parse(
            """
            kafka: {waitingBytesMax: 64KiB, eventBytesMax: 20MiB, linger: 2s}
            spool: {segmentBytes: 1KiB}
            small: {bytesMax: 1MiB}
            """,
            _ -> null);

    EventsConfig.read(settings.section("kafka"), settings.section("spool"));
    SpoolConfig.read(settings.section("small"));

    assertThat(settings.problems().found()).hasSize(5);
  }
}
