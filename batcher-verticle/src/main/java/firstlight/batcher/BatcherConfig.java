package firstlight.batcher;

import firstlight.protocol.Settings;
import java.time.Duration;

/**
 * The section {@code batcher} of the configuration: every limit of a replica.
 *
 * @param host where its gRPC service listens
 * @param announcedHost the name under which edges reach it
 * @param port 0: any free one
 * @param runningMax Sequences that run at the same time
 * @param stepTokensMax tokens in one Step
 * @param promptChunkMax tokens of one prompt in one Step
 * @param waitingMax Sequences that wait
 * @param waitingTokensMax tokens of all that wait
 * @param firstTokenMax longest wait for a first Step, where the request does not say
 * @param stallMax longest time without credit, and for an edge not to read
 * @param prefixCache whether computed prompts are used again
 * @param keptFor how long a stored Response's prompt and answer are kept for the next turn
 * @param keptShare share of all Blocks that may be kept for one tenant
 * @param speculation whether tokens are guessed where that pays
 * @param draftTokensMax most tokens of one generation that are guessed in a Step
 * @param shares how Sequences share the replica: its parts are settings of this section
 * @param edgesMax edges attached at the same time
 * @param generationsPerEdgeMax live generations of one edge
 * @param stopStringsMax stop strings of one generation
 * @param stopBytesMax bytes of one stop string
 * @param stopTokensMax end tokens of one generation
 * @param biasTokensMax logit biases of one generation
 * @param messageBytesMax bytes of one message from an edge
 * @param frameBytesMax bytes of one frame to an edge, roughly
 * @param edgeOwedBytesMax bytes an edge may leave unread before its generations pause
 * @param stepMax longest time a device may take for one Step
 * @param claimEvery how often the claim on the device is renewed
 * @param claimAnswerMax longest wait for the device's answer to that
 * @param claimMax longest wait for a first device
 * @param reportEvery how often edges are told the load
 */
public record BatcherConfig(
    String host,
    String announcedHost,
    int port,
    int runningMax,
    int stepTokensMax,
    int promptChunkMax,
    int waitingMax,
    int waitingTokensMax,
    Duration firstTokenMax,
    Duration stallMax,
    boolean prefixCache,
    Duration keptFor,
    double keptShare,
    boolean speculation,
    int draftTokensMax,
    SharePolicy shares,
    int edgesMax,
    int generationsPerEdgeMax,
    int stopStringsMax,
    int stopBytesMax,
    int stopTokensMax,
    int biasTokensMax,
    int messageBytesMax,
    int frameBytesMax,
    int edgeOwedBytesMax,
    Duration stepMax,
    Duration claimEvery,
    Duration claimAnswerMax,
    Duration claimMax,
    Duration reportEvery) {

  /** Reads the section; mistakes are noted in its problems. */
  public static BatcherConfig from(Settings section) {
    String host = section.text("host", "127.0.0.1");
    BatcherConfig config =
        new BatcherConfig(
            host,
            section.text("announcedHost", host),
            section.integer("port", 0, 0, 65_535),
            section.integer("runningMax", 64, 1, 4096),
            section.integer("stepTokensMax", 256, 1, 1 << 20),
            section.integer("promptChunkMax", 192, 1, 1 << 20),
            section.integer("waitingMax", 512, 1, 1 << 20),
            section.integer("waitingTokensMax", 1 << 19, 1, Integer.MAX_VALUE),
            section.duration("firstTokenMax", Duration.ofSeconds(30)),
            section.duration("stallMax", Duration.ofSeconds(30)),
            section.flag("prefixCache", true),
            section.duration("keptFor", Duration.ofMinutes(5)),
            section.number("keptShare", 0.25, 0, 1),
            section.flag("speculation", true),
            section.integer("draftTokensMax", 8, 1, 64),
            shares(section),
            section.integer("edgesMax", 256, 1, 1 << 16),
            section.integer("generationsPerEdgeMax", 8192, 1, 1 << 20),
            section.integer("stopStringsMax", 64, 0, 4096),
            section.integer("stopBytesMax", 4096, 1, 1 << 20),
            section.integer("stopTokensMax", 256, 0, 1 << 16),
            section.integer("biasTokensMax", 4096, 0, 1 << 20),
            size(section, "messageBytesMax", 4 << 20),
            size(section, "frameBytesMax", 192 << 10),
            size(section, "edgeOwedBytesMax", 4 << 20),
            section.duration("stepMax", Duration.ofSeconds(60)),
            section.duration("claimEvery", Duration.ofMillis(500)),
            section.duration("claimAnswerMax", Duration.ofSeconds(10)),
            section.duration("claimMax", Duration.ofMinutes(2)),
            section.duration("reportEvery", Duration.ofMillis(250)));
    section.done();
    config.check(section);
    return config;
  }

  private static SharePolicy shares(Settings section) {
    return new SharePolicy(
        section.duration("interTokenTarget", Duration.ofMillis(100)),
        section.integer("longPromptTokens", 1024, 1, 1 << 20),
        section.number("longShare", 0.5, 0.05, 0.95),
        section.number("tenantWaitingShare", 0.5, 0.01, 1),
        section.number("reservedOutput", 1, 0, 1),
        section.integer("tenantsRemembered", 1024, 1, 1 << 20));
  }

  private static int size(Settings section, String key, int fallback) {
    long bytes = section.bytes(key, fallback);
    section
        .problems()
        .require(
            bytes >= 1024 && bytes <= 1 << 30,
            "batcher.%s must be from 1KiB to 1GiB, not %d bytes".formatted(key, bytes));
    return Math.clamp(bytes, 1024, 1 << 30);
  }

  private void check(Settings section) {
    section
        .problems()
        .require(
            frameBytesMax <= messageBytesMax,
            "batcher.frameBytesMax is %d but must not be above batcher.messageBytesMax = %d"
                .formatted(frameBytesMax, messageBytesMax));
    section
        .problems()
        .require(
            runningMax <= stepTokensMax,
            "batcher.stepTokensMax is %d but must hold a token for each of batcher.runningMax = %d"
                .formatted(stepTokensMax, runningMax));
    positive(section, "firstTokenMax", firstTokenMax);
    positive(section, "stallMax", stallMax);
    positive(section, "interTokenTarget", shares.interTokenTarget());
    positive(section, "keptFor", keptFor);
    positive(section, "stepMax", stepMax);
    positive(section, "claimEvery", claimEvery);
    positive(section, "claimAnswerMax", claimAnswerMax);
    positive(section, "claimMax", claimMax);
    positive(section, "reportEvery", reportEvery);
  }

  private static void positive(Settings section, String key, Duration span) {
    section.problems().require(span.isPositive(), "batcher.%s must be above 0".formatted(key));
  }

  SchedulerLimits limits() {
    return new SchedulerLimits(
        runningMax,
        stepTokensMax,
        promptChunkMax,
        waitingMax,
        waitingTokensMax,
        firstTokenMax,
        stallMax,
        prefixCache,
        new Retention(keptFor, keptShare),
        speculation ? draftTokensMax : 0,
        shares);
  }
}
