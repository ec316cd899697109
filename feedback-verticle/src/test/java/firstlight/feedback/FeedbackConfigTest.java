package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class FeedbackConfigTest {
  @Test
  void defaults_stand_where_nothing_is_said() {
    Settings settings = Settings.empty();

    FeedbackConfig config = FeedbackConfig.read(settings);

    assertThat(settings.problems().found()).isEmpty();
    assertThat(config.kafka().topic()).isEqualTo("firstlight.events");
    assertThat(config.kafka().deadTopic()).isEqualTo("firstlight.events.dead");
    assertThat(config.files().ageMax()).isEqualTo(Duration.ofSeconds(30));
  }

  @Test
  void every_mistake_is_named() {
    Settings settings =
        Settings.parse(
            """
            feedback:
              kafka: {topic: t, deadTopic: t, partitions: 0}
              files: {ageMax: 1ms, rowGroupBytes: 1KiB}
            """,
            _ -> null);

    FeedbackConfig.read(settings.section("feedback"));

    assertThat(settings.problems().found()).hasSize(4);
  }
}
