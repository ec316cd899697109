package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * What can go wrong on the slow path, done to real processes under load: afterwards every Event is
 * in the lake once, and the fast path was as fast as in an undisturbed run just before.
 *
 * <p>{@code -DfaultSeconds=60 -Dkills=20 -Dstreams=200 -DfaultTokens=100} is the full form; the
 * default is short. {@code -DfaultSeed} repeats the random moments of a run.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SlowPathFaultsIT {
  private static final Duration LENGTH = Duration.ofSeconds(Integer.getInteger("faultSeconds", 4));
  private static final int KILLS = Integer.getInteger("kills", 3);
  private static final int STREAMS = Integer.getInteger("streams", 24);
  private static final int TOKENS = Integer.getInteger("faultTokens", 40);
  private static final int STEP_MILLIS = Integer.getInteger("faultStepMillis", 20);
  private static final long SEED = Long.getLong("faultSeed", System.nanoTime());

  private static final Duration LEAD_IN = Duration.ofSeconds(1);
  private static final Duration WARM_UP = Duration.ofSeconds(6);
  private static final Duration SOON = Duration.ofSeconds(120);
  private static final int KILL_MILLIS_MAX = 3_000;
  private static final long ROOM_BYTES = 16 << 10;
  private static final String ORDINARY = "";
  private static final long SPOOL_DISK_MIB = 64;

  /** So long before an edge dies, its last Events are in its spool. */
  private static final Duration HANDED_OVER = Duration.ofMillis(1_000);

  private static final Duration JUDGED = Duration.ofSeconds(30);

  // The machine has other things to do: these bounds are for what is waited for, not for noise.
  private static final double MEDIAN_RATIO_MAX = 1.5;
  private static final double P99_RATIO_MAX = 3;

  private final Random random = new Random(SEED);
  private final FaultTable table = new FaultTable();
  private @Nullable FaultCluster cluster;
  private @Nullable StreamLoad load;
  private @Nullable ChildJvm sink;
  private @Nullable SmallDisk disk;
  private String spool = "";

  @BeforeAll
  void start() throws Exception {
    System.out.printf("seed %d%n", SEED);
    Path folder = FirstlightProcess.freshFolder("faults");
    boolean disks = SmallDisk.canBeMade();
    cluster = new FaultCluster(folder, STREAMS, STEP_MILLIS, disks);
    disk = disks ? SmallDisk.mount(folder.resolve("disk"), SPOOL_DISK_MIB) : null;
    cluster.start();
    sink = cluster.startSink("sink", false, 2).await();
    load = new StreamLoad(cluster.calls(), STREAMS, TOKENS, SEED);
    load.run(WARM_UP);
  }

  @AfterAll
  void stop() throws Exception {
    System.out.println(table);
    if (load != null) {
      load.close();
    }
    if (sink != null) {
      sink.close();
    }
    if (cluster != null) {
      cluster.close();
    }
    if (disk != null) {
      disk.close();
    }
  }

  private interface Action {
    void run() throws Exception;
  }

  /** What the fast path does by itself, with an edge whose spool has these settings. */
  private Latencies undisturbed(String settings) throws Exception {
    if (!spool.equals(settings)) {
      load.pause();
      try {
        // What an edge has not sent when it ends waits in its spool for the next one there.
        cluster.settle(load.sent(), named("a change of edges"));
        cluster.edge().close();
        cluster.startEdge(settings);
        spool = settings;
      } finally {
        load.resume();
      }
      load.run(WARM_UP);
    }
    load.run(LEAD_IN);
    Latencies calm = load.run(LENGTH);
    load.takeFailures();
    return calm;
  }

  /** A fault that lasts, between two equal times of the same load. */
  private void outage(String fault, Action begin, Action end) throws Exception {
    Latencies calm = undisturbed(ORDINARY);
    begin.run();
    Latencies disturbed;
    try {
      disturbed = load.run(LENGTH);
      unharmed(fault);
    } finally {
      end.run();
    }
    settle(fault, calm, disturbed);
    judge(fault, disturbed.over(calm));
  }

  /** No stream has failed. */
  private void unharmed(String fault) {
    Map<String, Integer> failures = load.takeFailures();
    if (!failures.isEmpty()) {
      System.out.printf("%s: streams that failed: %s%n", fault, failures);
    }
    if (LENGTH.compareTo(JUDGED) >= 0) {
      assertThat(failures).as("streams that failed, %s", named(fault)).isEmpty();
    }
  }

  private static void judge(String fault, Latencies.Ratios ratios) {
    // A few seconds on a machine that does other things prove nothing: then the table is all.
    if (LENGTH.compareTo(JUDGED) < 0) {
      return;
    }
    String as = named(fault);
    assertThat(ratios.firstMedian()).as("TTFT, %s", as).isLessThan(MEDIAN_RATIO_MAX);
    assertThat(ratios.betweenMedian()).as("between, %s", as).isLessThan(MEDIAN_RATIO_MAX);
    assertThat(ratios.firstP99()).as("TTFT p99, %s", as).isLessThan(P99_RATIO_MAX);
    assertThat(ratios.betweenP99()).as("between p99, %s", as).isLessThan(P99_RATIO_MAX);
  }

  private void settle(String fault, Latencies calm, Latencies disturbed) throws Exception {
    load.pause();
    try {
      LakeCount count = cluster.settle(load.sent(), named(fault));
      table.add(fault, count, calm, disturbed);
    } finally {
      load.resume();
    }
  }

  private static String named(String fault) {
    return "%s; repeat with -Dit.test=SlowPathFaultsIT -DfaultSeed=%d".formatted(fault, SEED);
  }

  @Test
  void kafka_is_down() throws Exception {
    outage("Kafka down", () -> cluster.kafka().kill(), () -> cluster.restartKafka());
  }

  @Test
  void kafka_stands_still() throws Exception {
    outage("Kafka frozen", () -> cluster.kafka().freeze(), () -> cluster.kafka().thaw());
  }

  @Test
  void the_object_store_is_down() throws Exception {
    outage("S3 down", () -> cluster.store().kill(), () -> cluster.restartStore());
  }

  @Test
  void kafka_has_no_room() throws Exception {
    assumeTrue(disk != null, "a small disk can not be mounted here");
    outage(
        "Kafka full",
        () -> cluster.kafkaDisk().leave(ROOM_BYTES),
        () -> {
          System.out.printf(
              "Kafka full: %d bytes free, broker alive: %b%n",
              cluster.kafkaDisk().free(), cluster.kafka().alive());
          cluster.kafkaDisk().grow(FaultCluster.KAFKA_DISK_MIB);
          cluster.restartKafka();
        });
  }

  @Test
  void the_sink_is_killed_between_any_two_of_its_steps() throws Exception {
    Latencies calm = undisturbed(ORDINARY);
    sink.kill();
    Latencies disturbed = load.begin();
    List<String> kills = new ArrayList<>();
    for (int i = 0; i < KILLS; i++) {
      kills.add(killSink(i));
    }
    load.end();
    unharmed("sink killed");
    try (SinkGroup group = new SinkGroup(cluster.bootstrap())) {
      group.forgetDead();
    }
    sink = cluster.startSink("sink", false, 2).await();
    System.out.println("the sink was killed: " + kills);
    settle("sink killed x " + KILLS, calm, disturbed);
  }

  /** At every moment first, then at any time; where there are fewer kills, at some moments. */
  private String killSink(int number) throws Exception {
    List<Moment> moments = new ArrayList<>(List.of(Moment.values()));
    Collections.rotate(moments, Math.floorMod(SEED, moments.size()));
    try (SinkGroup group = new SinkGroup(cluster.bootstrap())) {
      group.forgetDead();
    }
    ChildJvm victim = cluster.startSink("victim", true, 1);
    if (number < moments.size()) {
      Moment moment = moments.get(number);
      int nth = 1 + random.nextInt(3);
      cluster.relay(moment).arm(moment, nth, () -> killed(victim));
      Eventually.holds(SOON, "the sink comes to " + moment, () -> !victim.alive());
      return moment + " " + nth;
    }
    int millis = random.nextInt(KILL_MILLIS_MAX);
    victim.await();
    load.keepOn(Duration.ofMillis(millis));
    victim.kill();
    return millis + " ms";
  }

  private static void killed(ChildJvm victim) {
    try {
      victim.kill();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void a_second_sink_joins_and_leaves_during_an_upload() throws Exception {
    Latencies calm = undisturbed(ORDINARY);
    sink.close();
    ChildJvm first = cluster.startSink("victim", true, 1);
    CountDownLatch reached = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    cluster.relay(Moment.UPLOAD_ASKED).arm(Moment.UPLOAD_ASKED, 2, () -> hold(reached, released));
    assertThat(reached.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
    Latencies disturbed = load.begin();
    try (SinkGroup group = new SinkGroup(cluster.bootstrap());
        ChildJvm _ = cluster.startSink("second", false, 1).await()) {
      Eventually.holds(SOON, "there are two sinks", () -> group.members() == 2);
      load.keepOn(LEAD_IN);
    } finally {
      released.countDown();
      first.close();
      sink = cluster.startSink("sink", false, 2).await();
    }
    load.end();
    unharmed("rebalance");
    settle("rebalance in an upload", calm, disturbed);
  }

  private static void hold(CountDownLatch reached, CountDownLatch released) {
    reached.countDown();
    try {
      released.await(SOON.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void the_edge_is_killed_with_a_filled_spool() throws Exception {
    Latencies calm = undisturbed(ORDINARY);
    cluster.kafka().kill();
    Latencies disturbed = load.run(LENGTH);
    unharmed("the spool fills");
    cluster.edge().kill();
    load.sent().doubt(System.nanoTime() - HANDED_OVER.toNanos());
    cluster.restartKafka();
    cluster.startEdge(ORDINARY);
    settle("edge killed, spool filled", calm, disturbed);
    load.run(WARM_UP);
  }

  @Test
  void the_spool_is_full() throws Exception {
    Path folder = cluster.folder().resolve("small-spool");
    spoolFull(
        "spool full",
        "{folder: %s, bytesMax: 64KiB, segmentBytes: 16KiB}".formatted(folder),
        () -> {},
        () -> {});
  }

  @Test
  void the_disk_is_full() throws Exception {
    assumeTrue(disk != null, "a small disk can not be mounted here");
    spoolFull(
        "disk of the spool full",
        "{folder: %s, segmentBytes: 64KiB, bytesMax: 64MiB, freeBytesMin: 0}"
            .formatted(disk.folder()),
        () -> disk.leave(ROOM_BYTES),
        () -> {
          System.out.printf("the spool's disk: %d bytes free%n", disk.free());
          disk.grow(SPOOL_DISK_MIB);
        });
  }

  /** Kafka is away for too long: what is lost is counted, and no accepted feedback is. */
  private void spoolFull(String fault, String spool, Action begin, Action end) throws Exception {
    Latencies calm = undisturbed(spool);
    cluster.kafka().kill();
    begin.run();
    Latencies disturbed;
    try {
      disturbed = load.run(LENGTH);
      unharmed(fault);
    } finally {
      load.pause();
      end.run();
      cluster.restartKafka();
    }
    try {
      Eventually.holds(SOON, "what is missing was counted", () -> missing() == lost("response"));
    } finally {
      System.out.printf(
          "%s: missing %d of %d Responses, counted %d; feedback accepted %d, refused %d%n",
          fault,
          missing(),
          load.sent().finished().size(),
          lost("response"),
          load.sent().accepted().size(),
          load.sent().unsure().size());
      load.resume();
    }
    load.sent().forgive(cluster.count().missing(load.sent()));
    settle(fault, calm, disturbed);
    judge(fault, disturbed.over(calm));
  }

  private long missing() throws Exception {
    return cluster.count().missing(load.sent()).size();
  }

  /** What the edge says it had to give up. */
  private long lost(String kind) throws Exception {
    try (Client client = new Client(cluster.address(), FaultCluster.KEY)) {
      String label = "kind=\"%s\"".formatted(kind);
      return (long) Figures.of(client).sum("firstlight_events_lost_total", label);
    }
  }
}
