package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.edge.EventDraft.Importance;
import firstlight.protocol.IdSource;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kafka has committed and could not say so, and then the spool runs full. */
class SpoolDoubtTest {
  private static final int IN_DOUBT = 5;
  private static final int EVENTS_MAX = 10_000;

  @TempDir Path folder;

  private SpoolTrial trial;

  @BeforeEach
  void begin() throws Exception {
    trial = new SpoolTrial(folder).kafka();
  }

  @AfterEach
  void end() throws Exception {
    trial.close();
  }

  /** A fault: the first answer to a commit is lost, and Kafka is away until it comes back. */
  private static final class LostAnswer extends SpoolKafka {
    private final CountDownLatch missed = new CountDownLatch(1);
    private volatile boolean before = true;
    private volatile boolean away;

    private LostAnswer(EventsConfig config, String id) {
      super(config, id);
    }

    @Override
    @SuppressWarnings("unchecked")
    Producer<byte[], byte[]> open(boolean oneByOne) {
      if (away) {
        missed.countDown();
        throw new KafkaException("a fault: Kafka is away");
      }
      Producer<byte[], byte[]> real = super.open(oneByOne);
      return (Producer<byte[], byte[]>)
          Proxy.newProxyInstance(
              Producer.class.getClassLoader(),
              new Class<?>[] {Producer.class},
              (_, method, arguments) -> {
                Object result;
                try {
                  result = method.invoke(real, arguments);
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
                if (before && method.getName().equals("commitTransaction")) {
                  before = false;
                  away = true;
                  throw new TimeoutException("a fault: the answer is lost");
                }
                return result;
              });
    }
  }

  private EventsConfig config() {
    return new EventsConfig(
        trial.bootstrap(),
        SpoolTrial.TOPIC,
        20_000,
        16 << 20,
        64 << 10,
        500,
        4 << 20,
        Duration.ofMillis(10),
        Duration.ofMillis(800),
        Duration.ofSeconds(3),
        new SpoolConfig(
            trial.spools().toString(), 64 << 10, 16 << 10, 0, SpoolConfig.WhenFull.OLDEST));
  }

  private double counted(String what) {
    return trial.counted("firstlight.events." + what);
  }

  private static void append(EventSpool spool, int number) {
    Event event = SampleEvents.response(number, 20);
    spool.append(List.of(new EventSpool.Entry(event, Importance.of(event), null)));
  }

  @Test
  void what_was_committed_in_doubt_is_not_counted_as_lost() throws Exception {
    EventsConfig config = config();
    SpoolTools tools =
        new SpoolTools(
            Time.system(),
            new SplittableRandom(1),
            SpoolDisk.real(),
            new SpoolMetrics(trial.registry));
    SpoolFolder own = SpoolFolder.own(trial.spools(), new IdSource(new Random(2)));
    EventSpool spool = new EventSpool(config, tools);
    spool.recover(own);
    int handed = 0;
    while (handed < IN_DOUBT) {
      append(spool, handed++);
    }
    LostAnswer kafka = new LostAnswer(config, own.id());
    Nap nap = new Nap(Time.system());
    EventForwarder forwarder = new EventForwarder(spool, kafka, config, tools, nap);
    Thread sender = Thread.ofPlatform().daemon().start(forwarder::run);
    assertThat(kafka.missed.await(60, TimeUnit.SECONDS)).isTrue();

    while (counted("lost") == 0 && handed < EVENTS_MAX) {
      append(spool, handed++);
    }
    kafka.away = false;
    int all = handed;
    SpoolTrial.until(() -> counted("sent") + counted("lost") >= all);

    List<String> read = SpoolTrial.ids(trial.read());
    assertThat(read).doesNotHaveDuplicates();
    assertThat(counted("lost")).isPositive().isEqualTo(all - read.size());
    assertThat(counted("sent")).isEqualTo(read.size());
    nap.stop(TimeUnit.SECONDS.toNanos(3));
    sender.join();
    own.close();
  }
}
