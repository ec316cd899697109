package firstlight.edge;

import firstlight.protocol.Settings;
import java.time.Duration;

/**
 * How Events get to Kafka. The limits hold for each instance of the edge verticle.
 *
 * @param bootstrap one or more host:port, separated by commas; empty: Events go nowhere
 * @param waitingMax Events held in memory, those on their way included
 * @param waitingBytesMax their bytes
 * @param inFlightMax Events on their way at once
 * @param eventBytesMax a larger Event is shortened; below what the broker takes
 * @param acceptLimit how long a client waits to hear that its feedback is durable
 * @param closeLimit how long a stop may take to send what is held
 */
public record EventsConfig(
    String bootstrap,
    String topic,
    int waitingMax,
    long waitingBytesMax,
    int inFlightMax,
    int eventBytesMax,
    Duration acceptLimit,
    Duration closeLimit) {

  /** Reads the section; mistakes are noted in its problems. */
  public static EventsConfig read(Settings settings) {
    EventsConfig config =
        new EventsConfig(
            settings.text("bootstrap", "127.0.0.1:9092"),
            settings.text("topic", "firstlight.events"),
            settings.integer("waitingMax", 20_000, 1, 10_000_000),
            settings.bytes("waitingBytesMax", 64L << 20),
            settings.integer("inFlightMax", 256, 1, 100_000),
            (int) Math.min(Integer.MAX_VALUE, settings.bytes("eventBytesMax", 900L << 10)),
            settings.duration("acceptLimit", Duration.ofMillis(800)),
            settings.duration("closeLimit", Duration.ofSeconds(2)));
    settings
        .problems()
        .require(
            config.eventBytesMax >= 64 << 10 && config.eventBytesMax <= 16 << 20,
            "events.eventBytesMax must be from 64KiB to 16MiB");
    settings
        .problems()
        .require(
            config.waitingBytesMax >= config.eventBytesMax,
            "events.waitingBytesMax must be at least events.eventBytesMax");
    settings.done();
    return config;
  }
}
