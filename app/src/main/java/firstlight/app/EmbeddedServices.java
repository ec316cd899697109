package firstlight.app;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * PostgreSQL, Redis, Kafka and an object store for the one-command default: those that the node's
 * roles need, started side by side, on free ports of loopback, their data under one folder that one
 * launcher uses at a time.
 */
final class EmbeddedServices {
  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedServices.class);
  private static final int STOP_SECONDS = 2;

  /** Programs, empty databases and first segments. */
  private static final long FREE_BYTES_MIN = 512L << 20;

  private final Path folder;
  private final List<EmbeddedService> services = new ArrayList<>();
  private final Map<String, Object> endpoints;
  private final ExecutorService threads =
      Executors.newThreadPerTaskExecutor(Thread.ofPlatform().name("embedded-", 0).factory());
  private @Nullable FileLock lock;
  private boolean announced;
  private boolean stopped;

  private EmbeddedServices(Path folder, Map<String, Object> endpoints) {
    this.folder = folder;
    this.endpoints = endpoints;
  }

  /** Chooses ports; nothing is started yet. */
  static EmbeddedServices plan(Path data, Set<Role> roles) throws IOException {
    Path folder = data.toAbsolutePath().normalize();
    List<Integer> ports = FreePorts.find(5);
    EmbeddedServices planned = new EmbeddedServices(folder, endpoints(ports, folder));
    if (roles.contains(Role.SESSION) || roles.contains(Role.FEEDBACK)) {
      planned.services.add(new EmbeddedPostgresServer(folder.resolve("postgres"), ports.get(0)));
    }
    if (roles.contains(Role.SESSION)) {
      planned.services.add(new EmbeddedRedisServer(folder.resolve("redis"), ports.get(1)));
    }
    if (roles.contains(Role.EDGE) || roles.contains(Role.FEEDBACK)) {
      planned.services.add(new EmbeddedKafka(folder.resolve("kafka"), ports.get(2), ports.get(3)));
    }
    if (roles.contains(Role.FEEDBACK)) {
      planned.services.add(new EmbeddedObjectStore(folder.resolve("objects"), ports.get(4)));
    }
    return planned;
  }

  /** Only what the lake needs, for a command that reads it while no node runs. */
  static EmbeddedServices planForLake(Path data) throws IOException {
    Path folder = data.toAbsolutePath().normalize();
    List<Integer> ports = FreePorts.find(5);
    EmbeddedServices planned = new EmbeddedServices(folder, endpoints(ports, folder));
    planned.services.add(new EmbeddedPostgresServer(folder.resolve("postgres"), ports.get(0)));
    planned.services.add(new EmbeddedObjectStore(folder.resolve("objects"), ports.get(4)));
    return planned;
  }

  private static Map<String, Object> endpoints(List<Integer> ports, Path folder) {
    String kafka = "127.0.0.1:" + ports.get(2);
    return Map.ofEntries(
        Map.entry("session.postgres.host", "127.0.0.1"),
        Map.entry("session.postgres.port", ports.get(0)),
        Map.entry("session.postgres.database", EmbeddedPostgresServer.DATABASE),
        Map.entry("session.postgres.user", EmbeddedPostgresServer.USER),
        Map.entry("session.redis.connection", "redis://127.0.0.1:" + ports.get(1)),
        Map.entry("edge.kafka.bootstrap", kafka),
        Map.entry("edge.spool.folder", folder.resolve("event-spool").toString()),
        Map.entry("feedback.kafka.bootstrap", kafka),
        Map.entry(
            "lake.catalog.jdbc",
            "jdbc:postgresql://127.0.0.1:%d/%s"
                .formatted(ports.get(0), EmbeddedPostgresServer.DATABASE)),
        Map.entry("lake.catalog.user", EmbeddedPostgresServer.USER),
        Map.entry("lake.s3.endpoint", "http://127.0.0.1:" + ports.get(4)),
        Map.entry("lake.s3.accessKey", EmbeddedObjectStore.ACCESS_KEY),
        Map.entry("lake.s3.secretKey", EmbeddedObjectStore.SECRET_KEY),
        Map.entry("lake.upkeep.folder", folder.resolve("lake-upkeep").toString()),
        Map.entry("feedback.spool", folder.resolve("lake-spool").toString()));
  }

  /** Tells the modules where the services are. */
  void tell(Overrides overrides) {
    endpoints.forEach(overrides::put);
  }

  /**
   * Starts all at once.
   *
   * @return completes when every one answers
   */
  CompletableFuture<Void> start() throws IOException {
    lockFolder();
    return CompletableFuture.allOf(
        services.stream()
            .map(service -> CompletableFuture.runAsync(() -> start(service), threads))
            .toArray(CompletableFuture[]::new));
  }

  /**
   * Tells other processes of the same user where the services are.
   *
   * @see ServicesFile
   */
  void announce() throws IOException {
    ServicesFile.ofThisProcess(endpoints).write(folder);
    announced = true;
  }

  private void start(EmbeddedService service) {
    long begin = System.nanoTime();
    try {
      service.start();
    } catch (Exception e) {
      LOG.debug("{} failed", service.name(), e);
      throw new StartFailure(
          "the embedded %s can not start: %s. Its data is under %s."
              .formatted(service.name(), Reasons.of(e), folder),
          e);
    }
    LOG.info("{} is up after {} ms", service.name(), (System.nanoTime() - begin) / 1_000_000);
  }

  private void lockFolder() throws IOException {
    Files.createDirectories(folder);
    long free = Files.getFileStore(folder).getUsableSpace();
    if (free < FREE_BYTES_MIN) {
      throw new StartFailure(
          "%s has %d MiB of free disk, and the embedded services need %d MiB. Free some space, or"
                  .formatted(folder, free >> 20, FREE_BYTES_MIN >> 20)
              + " choose another folder with --data.");
    }
    if (!tryLock()) {
      throw new StartFailure(
          "another Firstlight uses the folder %s. Stop it, or choose another with --data."
              .formatted(folder));
    }
  }

  /** Whether the folder is ours, now or already; it stays so until the stop. */
  boolean tryLock() throws IOException {
    if (lock != null) {
      return true;
    }
    FileChannel channel =
        FileChannel.open(
            folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      lock = null;
    }
    if (lock == null) {
      channel.close();
      return false;
    }
    ServicesFile.remove(folder);
    return true;
  }

  /** Stops all at once, children included; once and for all. */
  synchronized void stop() {
    if (stopped) {
      return;
    }
    stopped = true;
    withdraw();
    CompletableFuture<?>[] stops =
        services.stream()
            .map(service -> CompletableFuture.runAsync(() -> stop(service), threads))
            .toArray(CompletableFuture[]::new);
    try {
      CompletableFuture.allOf(stops).orTimeout(STOP_SECONDS, TimeUnit.SECONDS).join();
    } catch (RuntimeException e) {
      LOG.warn("not every embedded service stopped in time");
    }
    // What is still starting is not waited for.
    threads.shutdownNow();
    unlockFolder();
  }

  private static void stop(EmbeddedService service) {
    try {
      service.close();
    } catch (IOException e) {
      LOG.warn("{} did not stop: {}", service.name(), Reasons.of(e));
    }
  }

  private void withdraw() {
    if (announced) {
      announced = false;
      try {
        ServicesFile.remove(folder);
      } catch (IOException e) {
        LOG.debug("what it says is of no use any more, and nobody takes it for more", e);
      }
    }
  }

  private void unlockFolder() {
    try {
      if (lock != null) {
        lock.acquiredBy().close();
        lock = null;
      }
    } catch (IOException e) {
      LOG.debug("the lock is given back when the process ends", e);
    }
  }
}
