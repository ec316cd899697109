package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class UpkeepConfigTest {
  @Test
  void defaults_stand_where_nothing_is_said() {
    Settings settings = Settings.empty();

    assertThat(UpkeepConfig.read(settings))
        .isEqualTo(
            new UpkeepConfig(
                true,
                Duration.ofMinutes(5),
                new UpkeepConfig.Compaction(
                    32L << 20, 8, 1000, 128L << 20, 8, 512L << 20, 1, Path.of("data/lake-upkeep")),
                Duration.ofMinutes(10),
                Duration.ofDays(1),
                10_000));
    assertThat(settings.problems().found()).isEmpty();
  }

  @Test
  void every_setting_can_be_given() {
    Settings settings =
        settings(
            """
            upkeep: {enabled: false, every: 1m, smallBytes: 1MiB, filesMin: 3, filesMax: 30,
              targetBytes: 5MiB, mergesMax: 2, memory: 100MiB, threads: 2, folder: /x,
              keepSnapshots: 1h, orphanAge: 2d, orphansMax: 7}
            """);

    assertThat(LakeConfig.read(settings).upkeep())
        .isEqualTo(
            new UpkeepConfig(
                false,
                Duration.ofMinutes(1),
                new UpkeepConfig.Compaction(
                    1 << 20, 3, 30, 5 << 20, 2, 100 << 20, 2, Path.of("/x")),
                Duration.ofHours(1),
                Duration.ofDays(2),
                7));
    assertThat(settings.problems().found()).isEmpty();
  }

  @Test
  void every_mistake_is_named() {
    Settings settings =
        settings(
            """
            upkeep: {every: 1ms, smallBytes: 4MiB, filesMin: 30, filesMax: 20, targetBytes: 5MiB,
              memory: 1MiB, orphanAge: 1s, orphanAeg: 1s}
            """);

    LakeConfig.read(settings);

    assertThat(settings.problems().found()).hasSize(6);
  }

  private static Settings settings(String yaml) {
    return Settings.parse(yaml, _ -> null);
  }
}
