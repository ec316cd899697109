package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class BatcherConfigTest {
  private static final String ALL =
      """
      host: 0.0.0.0
      announcedHost: example
      port: 7000
      runningMax: 2
      stepTokensMax: 33
      promptChunkMax: 4
      waitingMax: 5
      waitingTokensMax: 6
      firstTokenMax: 7s
      stallMax: 8s
      prefixCache: false
      keptFor: 24s
      keptShare: 0.5
      speculation: true
      draftTokensMax: 23
      interTokenTarget: 30ms
      longPromptTokens: 31
      longShare: 0.32
      tenantWaitingShare: 0.33
      reservedOutput: 0.34
      tenantsRemembered: 35
      edgesMax: 9
      generationsPerEdgeMax: 10
      stopStringsMax: 11
      stopBytesMax: 12
      stopTokensMax: 13
      biasTokensMax: 14
      messageBytesMax: 15KiB
      frameBytesMax: 14KiB
      edgeOwedBytesMax: 17KiB
      stepMax: 18s
      claimEvery: 19s
      claimAnswerMax: 20s
      claimMax: 21s
      reportEvery: 22s
      """;

  private static List<String> problems(String yaml) {
    Settings settings = Settings.parse("batcher:\n  " + yaml.replace("\n", "\n  "), _ -> null);
    BatcherConfig.from(settings.section("batcher"));
    return settings.problems().found();
  }

  @Test
  void everything_has_a_default_that_can_be_used() {
    BatcherConfig config = TestReplica.config("");
    assertThat(config.host()).isEqualTo("127.0.0.1");
    assertThat(config.announcedHost()).isEqualTo("127.0.0.1");
    assertThat(config.port()).isZero();
    assertThat(config.reportEvery()).isEqualTo(Duration.ofMillis(250));
    assertThat(config.frameBytesMax()).isLessThan(256 << 10);
    assertThat(config.prefixCache()).isTrue();
    assertThat(config.limits().draftTokensMax()).isEqualTo(8);
  }

  @Test
  void each_setting_goes_to_its_place() {
    BatcherConfig config = TestReplica.config(ALL);
    SharePolicy shares = new SharePolicy(Duration.ofMillis(30), 31, 0.32, 0.33, 0.34, 35);
    assertThat(config)
        .isEqualTo(
            new BatcherConfig(
                "0.0.0.0",
                "example",
                7000,
                2,
                33,
                4,
                5,
                6,
                Duration.ofSeconds(7),
                Duration.ofSeconds(8),
                false,
                Duration.ofSeconds(24),
                0.5,
                true,
                23,
                shares,
                9,
                10,
                11,
                12,
                13,
                14,
                15 << 10,
                14 << 10,
                17 << 10,
                Duration.ofSeconds(18),
                Duration.ofSeconds(19),
                Duration.ofSeconds(20),
                Duration.ofSeconds(21),
                Duration.ofSeconds(22)));
    assertThat(config.limits())
        .isEqualTo(
            new SchedulerLimits(
                2,
                33,
                4,
                5,
                6,
                Duration.ofSeconds(7),
                Duration.ofSeconds(8),
                false,
                new Retention(Duration.ofSeconds(24), 0.5),
                23,
                shares));
    assertThat(TestReplica.config("speculation: false").limits().draftTokensMax()).isZero();
  }

  @Test
  void all_mistakes_are_told_together() {
    assertThat(
            problems(
                """
                runningMx: 3
                runningMax: 40
                stepTokensMax: 39
                messageBytesMax: 1KiB
                frameBytesMax: 2KiB
                edgeOwedBytesMax: 12
                stallMax: 0s
                interTokenTarget: 0s
                keptFor: 0s
                keptShare: 2\
                """))
        .containsExactlyInAnyOrder(
            "batcher.runningMx is not a setting; did you mean batcher.runningMax?",
            "batcher.stepTokensMax is 39 but must hold a token for each of batcher.runningMax = 40",
            "batcher.frameBytesMax is 2048 but must not be above batcher.messageBytesMax = 1024",
            "batcher.edgeOwedBytesMax must be from 1KiB to 1GiB, not 12 bytes",
            "batcher.stallMax must be above 0",
            "batcher.interTokenTarget must be above 0",
            "batcher.keptFor must be above 0",
            "batcher.keptShare must be a number from 0.0 to 1.0, not \"2\"");
  }
}
