package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import org.junit.jupiter.api.Test;

final class LakeConfigTest {
  @Test
  void defaults_stand_where_nothing_is_said() {
    Settings settings = Settings.empty();

    LakeConfig config = LakeConfig.read(settings);

    assertThat(settings.problems().found()).isEmpty();
    assertThat(config.catalog().namespace()).isEqualTo("lake");
    assertThat(config.s3().prefix()).isEqualTo("events/");
    assertThat(config.s3().uri("a")).isEqualTo("s3://firstlight/events/a");
  }

  @Test
  void every_mistake_is_named() {
    Settings settings =
        Settings.parse(
            """
            lake:
              catalog: {jdbc: "mysql://x", namespace: Lake, timeout: 1ms}
              s3: {prefix: /x, accessKey: a, buckte: b}
            """,
            _ -> null);

    LakeConfig.read(settings.section("lake"));

    assertThat(settings.problems().found())
        .hasSize(6)
        .contains("lake.s3.buckte is not a setting; did you mean lake.s3.bucket?");
  }

  @Test
  void the_secrets_are_shown_nowhere() {
    Settings settings =
        Settings.parse(
            """
            lake:
              catalog: {password: psst}
              s3: {accessKey: k, secretKey: hush-hush}
            """,
            _ -> null);

    LakeConfig config = LakeConfig.read(settings.section("lake"));

    assertThat(config.s3().secretKey()).isEqualTo("hush-hush");
    assertThat(config.catalog().password()).isEqualTo("psst");
    assertThat(config.toString()).doesNotContain("hush").doesNotContain("psst");
    assertThat(settings.effective().toString()).doesNotContain("hush").doesNotContain("psst");
  }
}
