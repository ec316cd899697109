package firstlight.app;

import firstlight.protocol.NodeId;
import firstlight.protocol.Settings;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Runs one node from its configuration until it is told to stop. */
final class Launch {
  /** A stop that takes longer is ended by force, children included. */
  private static final int STOP_MILLIS = 4_800;

  private final PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final CountDownLatch stopped = new CountDownLatch(1);
  private @Nullable Node node;

  private Launch() {}

  /** Returns the exit code once the node has stopped. */
  static int run(ConfigOptions options, Overrides overrides) throws Exception {
    return new Launch().serve(options, overrides);
  }

  private int serve(ConfigOptions options, Overrides overrides) throws Exception {
    long begin = System.nanoTime();
    Path file = ConfigurationFile.path(options);
    Configured configured = Configured.from(ConfigurationFile.read(file), overrides);
    out.printf("Firstlight reads %s%n", file);
    if (configured.config().has(Role.EDGE)) {
      FreePorts.require(configured.config().edge().host(), configured.config().edge().port());
    }
    Node starting = new Node(configured, out);
    node = starting;
    Runtime.getRuntime().addShutdownHook(new Thread(this::stop, "stop"));
    try {
      starting.start();
    } catch (Throwable e) {
      if (stopping.get()) {
        stopped.await(STOP_MILLIS, TimeUnit.MILLISECONDS);
        return 0;
      }
      stop();
      throw e;
    }
    Greeting.print(out, configured.config(), starting, (System.nanoTime() - begin) / 1_000_000);
    stopped.await();
    return 0;
  }

  private void stop() {
    if (!stopping.compareAndSet(false, true)) {
      return;
    }
    long drain = node == null ? 0 : node.drainLimit().toMillis();
    Thread watchdog = new Thread(() -> halt(drain + STOP_MILLIS), "stop-watchdog");
    watchdog.setDaemon(true);
    watchdog.start();
    if (node != null) {
      node.stop();
    }
    killChildren();
    stopped.countDown();
  }

  private static void halt(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
      killChildren();
      Runtime.getRuntime().halt(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** One that was still starting when the stop came, or did not end in time. */
  private static void killChildren() {
    ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
  }

  /** The checked configuration, what it was made of, and the services that come with it. */
  record Configured(NodeConfig config, Settings settings, @Nullable EmbeddedServices embedded) {

    /**
     * @throws firstlight.protocol.InvalidSettings naming all mistakes
     */
    static Configured from(Map<String, Object> tree, Overrides overrides) throws Exception {
      Settings first = Settings.of(overrides.applyTo(tree), System::getenv);
      NodeConfig config = NodeConfig.read(first, defaultName());
      first.problems().throwIfAny();
      if (!config.embedded()) {
        return new Configured(config, first, null);
      }
      EmbeddedServices embedded = EmbeddedServices.plan(config.data(), config.roles());
      embedded.tell(overrides);
      Settings second = Settings.of(overrides.applyTo(tree), System::getenv);
      NodeConfig complete = NodeConfig.read(second, config.name());
      second.problems().throwIfAny();
      return new Configured(complete, second, embedded);
    }

    private static NodeId defaultName() {
      String host;
      try {
        host = InetAddress.getLocalHost().getHostName().replaceAll("[^A-Za-z0-9.-]", "-");
      } catch (UnknownHostException e) {
        host = "node";
      }
      return new NodeId(
          host.substring(0, Math.min(64, host.length())) + "-" + ProcessHandle.current().pid());
    }
  }
}
