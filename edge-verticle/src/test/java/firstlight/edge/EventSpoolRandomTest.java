package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.edge.SpoolConfig.WhenFull;
import firstlight.protocol.wire.Event;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Appends, reads, faults and crashes at random, against a list that says what must come out. To
 * repeat a run, give its number: {@code -Dseed=…}.
 */
class EventSpoolRandomTest {
  private static final int RUNS = 30;
  private static final int STEPS = 150;

  @TempDir Path parent;

  private final Vertx vertx = Vertx.vertx();

  @AfterEach
  void end() throws Exception {
    Waiting.on(vertx.close());
  }

  @Test
  void nothing_is_lost_doubled_or_out_of_order_whatever_happens() throws Exception {
    Long given = Long.getLong("seed");
    long first = given == null ? new Random().nextLong() : given;
    for (int run = 0; run < (given == null ? RUNS : 1); run++) {
      long seed = first + run;
      try {
        new Run(parent.resolve("run" + run), seed).go();
      } catch (Exception | AssertionError e) {
        throw new AssertionError(
            "reproduce with: mvn test -pl edge-verticle -Dtest=EventSpoolRandomTest -Dseed=" + seed,
            e);
      }
    }
  }

  private final class Run {
    private final Random random;
    private final SpoolFixture trial;
    // What the spool holds, and how much of that is in memory only, from some place on.
    private final List<Event> expected = new ArrayList<>();
    private final List<Event> inMemory = new ArrayList<>();
    private int next;

    Run(Path folder, long seed) throws Exception {
      random = new Random(seed);
      Files.createDirectories(folder);
      // Large enough that nothing has to go.
      trial =
          new SpoolFixture(
              folder,
              vertx,
              new SpoolConfig(folder.toString(), 64 << 20, 16 << 10, 0, WhenFull.DETAIL),
              64 << 20);
    }

    void go() throws Exception {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(10)) {
          case 0, 1, 2, 3, 4 -> append();
          case 5, 6, 7 -> take();
          case 8 -> trouble();
          default -> crash();
        }
        check();
      }
      healthy();
      take(Integer.MAX_VALUE);
      assertThat(expected).isEmpty();
      check();
      trial.reader.close();
      trial.folder.close();
    }

    private void append() {
      Event[] events = new Event[1 + random.nextInt(8)];
      for (int i = 0; i < events.length; i++) {
        events[i] = event();
        expected.add(events[i]);
      }
      int before = trial.spool.memory().count();
      trial.append(events);
      if (trial.spool.memory().count() > before) {
        inMemory.addAll(List.of(events));
      }
    }

    private Event event() {
      int id = next++;
      return switch (random.nextInt(4)) {
        case 0 -> SampleEvents.failure(id);
        case 1 -> SampleEvents.toolCall(id, "{}".repeat(random.nextInt(100)));
        case 2 -> SampleEvents.feedback(id);
        default -> SampleEvents.response(id, random.nextInt(100));
      };
    }

    private void take() throws Exception {
      take(random.nextInt(20));
    }

    private void take(int most) throws Exception {
      List<Event> taken = most == 0 ? List.of() : trial.take(most);
      List<Event> first = expected.subList(0, Math.min(most, expected.size()));
      assertThat(SpoolTrial.ids(taken)).isEqualTo(SpoolTrial.ids(first));
      assertThat(taken.stream().filter(this::isWhole).toList())
          .isEqualTo(first.stream().filter(event -> isWhole(taken, event)).toList());
      List<String> ids = SpoolTrial.ids(taken);
      inMemory.removeIf(event -> ids.contains(event.getId()));
      first.clear();
    }

    /** Whether nothing of it was given up when the disk was full. */
    private boolean isWhole(Event event) {
      return event.getResponse().getShortened().isEmpty() && !event.hasToolCall();
    }

    private boolean isWhole(List<Event> taken, Event event) {
      return taken.stream().anyMatch(one -> one.getId().equals(event.getId()) && isWhole(one));
    }

    /** Reads something that then does not count: Kafka did not take it. */
    private void readInVain() throws Exception {
      long position = trial.reader.position();
      for (int i = 0; i < 5; i++) {
        trial.reader.next();
      }
      trial.reader.seek(position);
    }

    private void trouble() throws Exception {
      switch (random.nextInt(4)) {
        case 0 -> trial.disk.broken(true);
        case 1 -> trial.disk.space(random.nextInt(3_000));
        case 2 -> readInVain();
        default -> healthy();
      }
    }

    private void healthy() {
      trial.disk.broken(false);
      trial.disk.space(Long.MAX_VALUE);
      trial.time.advance(Duration.ofSeconds(2));
    }

    /** What was in memory is gone; a frame may be written by half. */
    private void crash() throws Exception {
      List<String> gone = SpoolTrial.ids(inMemory);
      expected.removeIf(event -> gone.contains(event.getId()));
      inMemory.clear();
      List<Path> files = trial.files(SpoolLane.FACTS);
      if (!files.isEmpty() && random.nextBoolean()) {
        byte[] torn = new byte[random.nextInt(40)];
        random.nextBytes(torn);
        Path last = newest(files);
        try (FileChannel file = FileChannel.open(last, StandardOpenOption.APPEND)) {
          file.write(ByteBuffer.wrap(torn));
        }
      }
      trial.reopen();
      trial.spool.skip(trial.spool.sentBefore());
    }

    private Path newest(List<Path> files) {
      return files.stream()
          .max(
              Comparator.comparingLong(
                  file -> Long.parseLong(file.getFileName().toString().replaceAll("\\D", ""))))
          .orElseThrow();
    }

    private void check() throws Exception {
      assertThat(trial.spool.waiting()).isEqualTo(expected.size());
      assertThat(trial.lost("spool_full") + trial.lost("memory_full")).isZero();
      assertThat(trial.counted("firstlight.events.corrupt.frames")).isZero();
      for (SpoolLane lane : SpoolLane.values()) {
        long bytes = 0;
        for (Path file : trial.files(lane)) {
          bytes += Files.size(file);
        }
        assertThat(bytes).isEqualTo(trial.spool.bytes(lane));
      }
    }
  }
}
