package firstlight.feedback;

import firstlight.protocol.Settings;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Settings of the sink.
 *
 * @param spool folder for files that are being written; what lies there after a crash is deleted,
 *     its events are read again
 * @param closeLimit how long a stop may take to upload what is open; the rest is read again later
 */
public record FeedbackConfig(Kafka kafka, Files files, Path spool, Duration closeLimit) {

  /**
   * @param bootstrap one or more host:port, separated by commas
   * @param group the consumer group; all instances of the sink share it
   * @param create whether missing topics are created, with so many partitions and replicas
   */
  public record Kafka(
      String bootstrap,
      String group,
      String topic,
      String deadTopic,
      boolean create,
      int partitions,
      int replicas) {}

  /**
   * When a batch is closed: whatever comes first. The age makes an Event visible on a quiet topic.
   *
   * @param rowsMax Events in a batch
   * @param bytesMax bytes of Events in a batch, as they are on Kafka
   * @param ageMax since the batch's first Event arrived here
   * @param openMax files open at once, one for each kind and date in the batch
   * @param rowGroupBytes memory of one open file before it writes a row group
   */
  public record Files(
      int rowsMax, long bytesMax, Duration ageMax, int openMax, long rowGroupBytes) {}

  /** Reads the section; mistakes are noted in its problems. */
  public static FeedbackConfig read(Settings settings) {
    FeedbackConfig config =
        new FeedbackConfig(
            kafka(settings.section("kafka")),
            files(settings.section("files")),
            Path.of(settings.text("spool", "data/lake-spool")),
            settings.duration("closeLimit", Duration.ofSeconds(3)));
    settings
        .problems()
        .require(
            config.files.ageMax.toMillis() >= 100, "feedback.files.ageMax must be at least 100ms");
    settings.done();
    return config;
  }

  private static Kafka kafka(Settings settings) {
    Kafka kafka =
        new Kafka(
            settings.text("bootstrap", "127.0.0.1:9092"),
            settings.text("group", "firstlight.feedback"),
            settings.text("topic", "firstlight.events"),
            settings.text("deadTopic", "firstlight.events.dead"),
            settings.flag("create", true),
            settings.integer("partitions", 4, 1, 1000),
            settings.integer("replicas", 1, 1, 10));
    settings
        .problems()
        .require(
            !kafka.topic.equals(kafka.deadTopic),
            "feedback.kafka.topic and feedback.kafka.deadTopic must differ");
    settings.done();
    return kafka;
  }

  private static Files files(Settings settings) {
    Files files =
        new Files(
            settings.integer("rowsMax", 100_000, 1, 10_000_000),
            settings.bytes("bytesMax", 64L << 20),
            settings.duration("ageMax", Duration.ofSeconds(30)),
            settings.integer("openMax", 8, 1, 100),
            settings.bytes("rowGroupBytes", 8L << 20));
    settings
        .problems()
        .require(
            files.rowGroupBytes >= 64 << 10 && files.rowGroupBytes <= 1L << 30,
            "feedback.files.rowGroupBytes must be from 64KiB to 1GiB");
    settings.done();
    return files;
  }
}
