package firstlight.edge;

import firstlight.protocol.Settings;
import java.time.Duration;

/**
 * How Events get to Kafka. The limits hold for all edge instances of a process together.
 *
 * @param bootstrap one or more host:port, separated by commas; empty: Events go nowhere
 * @param waitingMax Events that wait to be written; as many again may be held in memory while the
 *     disk can not be written
 * @param waitingBytesMax their bytes, in the same way
 * @param eventBytesMax a larger Event is shortened; below what the broker takes
 * @param transactionEventsMax Events that become visible on Kafka together
 * @param transactionBytesMax their bytes
 * @param linger how long a transaction waits for more Events
 * @param acceptLimit how long a client waits to hear that its feedback is durable
 * @param closeLimit how long a stop may take to send what is held
 */
public record EventsConfig(
    String bootstrap,
    String topic,
    int waitingMax,
    long waitingBytesMax,
    int eventBytesMax,
    int transactionEventsMax,
    long transactionBytesMax,
    Duration linger,
    Duration acceptLimit,
    Duration closeLimit,
    SpoolConfig spool) {

  /**
   * Reads the sections; mistakes are noted in their problems.
   *
   * @param kafka the section of all but the log on the disk
   * @param spool the log's section
   */
  public static EventsConfig read(Settings kafka, Settings spool) {
    EventsConfig config =
        new EventsConfig(
            kafka.text("bootstrap", "127.0.0.1:9092"),
            kafka.text("topic", "firstlight.events"),
            kafka.integer("waitingMax", 20_000, 1, 10_000_000),
            kafka.bytes("waitingBytesMax", 64L << 20),
            (int) Math.min(Integer.MAX_VALUE, kafka.bytes("eventBytesMax", 900L << 10)),
            kafka.integer("transactionEventsMax", 5_000, 1, 1_000_000),
            kafka.bytes("transactionBytesMax", 16L << 20),
            kafka.duration("linger", Duration.ofMillis(20)),
            kafka.duration("acceptLimit", Duration.ofMillis(800)),
            kafka.duration("closeLimit", Duration.ofSeconds(2)),
            SpoolConfig.read(spool));
    kafka
        .problems()
        .require(
            config.eventBytesMax >= 64 << 10 && config.eventBytesMax <= 16 << 20,
            "edge.kafka.eventBytesMax must be from 64KiB to 16MiB");
    kafka
        .problems()
        .require(
            config.waitingBytesMax >= config.eventBytesMax,
            "edge.kafka.waitingBytesMax must be at least edge.kafka.eventBytesMax");
    kafka
        .problems()
        .require(
            config.linger.compareTo(Duration.ofSeconds(1)) <= 0,
            "edge.kafka.linger must be at most 1s");
    kafka.done();
    return config;
  }
}
