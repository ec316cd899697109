package firstlight.app;

import firstlight.feedback.FeedbackConfig;
import firstlight.lake.DeadLetterReplay;
import firstlight.lake.FetchProgress;
import firstlight.lake.LakeCatalog;
import firstlight.lake.LakeConfig;
import firstlight.lake.LakeFailure;
import firstlight.lake.LakeKind;
import firstlight.lake.LakeReader;
import firstlight.lake.TimeRange;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Where the lake is, and what is needed to reach it. With real services the configuration says it.
 * With embedded ones a running node says it in its folder; when none runs, PostgreSQL and the
 * object store are started on that folder for as long as a command takes.
 */
final class LakeServices implements AutoCloseable {
  /** For a node that is starting, and for another command that has the services. */
  private static final Duration WAIT = Duration.ofSeconds(30);

  private static final int WAIT_STEP_MILLIS = 100;

  private final Settings settings;
  private final Path folder;
  private final LakeConfig config;
  private final Time time = Time.system();
  private final @Nullable EmbeddedServices own;
  private @Nullable LakeCatalog catalog;

  private LakeServices(Settings settings, Path folder, @Nullable EmbeddedServices own) {
    this.settings = settings;
    this.folder = folder;
    this.own = own;
    this.config = LakeConfig.read(settings.section("lake"));
  }

  /**
   * Finds or starts them.
   *
   * @throws StartFailure when there is no lake, or its folder is not to be had
   * @throws firstlight.protocol.InvalidSettings naming all mistakes
   */
  static LakeServices open(LakeOptions options) throws Exception {
    Map<String, Object> tree = ConfigurationFile.read(ConfigurationFile.path(options.config()));
    Overrides overrides = options.overrides();
    Settings node = Settings.of(overrides.applyTo(tree), System::getenv).section("node");
    boolean embedded = node.flag("embedded", false);
    Path folder = Path.of(node.text("data", "data")).toAbsolutePath().normalize();
    node.problems().throwIfAny();
    EmbeddedServices own = embedded ? embedded(folder, overrides) : null;
    try {
      Settings settings = Settings.of(overrides.applyTo(tree), System::getenv);
      LakeServices services = new LakeServices(settings, folder, own);
      settings.problems().throwIfAny();
      return services;
    } catch (RuntimeException e) {
      if (own != null) {
        own.stop();
      }
      throw e;
    }
  }

  /** Those started for this command; null when a node runs that has them. */
  private static @Nullable EmbeddedServices embedded(Path folder, Overrides overrides)
      throws Exception {
    if (!Files.isDirectory(folder.resolve("postgres/cluster"))) {
      throw new StartFailure(
          "there is no lake in %s yet. Start the system with \"firstlight up\", or name the folder"
                  .formatted(folder)
              + " with --data.");
    }
    long end = System.nanoTime() + WAIT.toNanos();
    EmbeddedServices own = EmbeddedServices.planForLake(folder);
    while (true) {
      if (own.tryLock()) {
        startOwn(own);
        own.tell(overrides);
        return own;
      }
      Optional<ServicesFile> running = ServicesFile.read(folder);
      if (running.isPresent()) {
        running.get().settings().forEach(overrides::put);
        return null;
      }
      if (System.nanoTime() > end) {
        throw new StartFailure(
            "another Firstlight uses the folder %s and does not say where its services are."
                    .formatted(folder)
                + " Wait until it has started or ended, and ask again.");
      }
      TimeUnit.MILLISECONDS.sleep(WAIT_STEP_MILLIS);
    }
  }

  private static void startOwn(EmbeddedServices own) throws Exception {
    // Whoever presses Ctrl-C leaves none behind.
    Runtime.getRuntime().addShutdownHook(new Thread(own::stop, "lake-services-stop"));
    try {
      Node.await(own.start());
    } catch (Exception e) {
      own.stop();
      throw e;
    }
  }

  /**
   * Where dead letters are.
   *
   * @throws StartFailure when Kafka does not run
   */
  DeadLetterReplay.Topics topics() {
    if (own != null) {
      throw new StartFailure(
          "dead letters are on Kafka, which runs with the node. Start it with \"firstlight up\" and"
              + " ask again.");
    }
    FeedbackConfig.Kafka kafka = FeedbackConfig.read(settings.section("feedback")).kafka();
    settings.problems().throwIfAny();
    return new DeadLetterReplay.Topics(kafka.bootstrap(), kafka.topic(), kafka.deadTopic());
  }

  LakeConfig config() {
    return config;
  }

  Time time() {
    return time;
  }

  /** The catalog; opened once. */
  synchronized LakeCatalog catalog() {
    try {
      LakeCatalog opened = catalog == null ? LakeCatalog.open(config) : catalog;
      catalog = opened;
      return opened;
    } catch (RuntimeException e) {
      throw LakeFailure.of(e, config);
    }
  }

  /** A reader of these tables; whoever opens it closes it. */
  LakeReader reader(Map<LakeKind, TimeRange> wanted, Optional<Path> output) throws IOException {
    FetchLine line = new FetchLine(time);
    FetchProgress progress = line::fetched;
    try {
      return LakeReader.open(
          catalog(), folder.resolve("lake-cache"), wanted, output, time, progress);
    } finally {
      line.end();
    }
  }

  @Override
  public void close() {
    if (catalog != null) {
      catalog.close();
    }
    if (own != null) {
      own.stop();
    }
  }
}
