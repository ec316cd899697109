package firstlight.edge;

import firstlight.protocol.IdSource;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends what dead processes left in folders beside ours, and deletes it. One folder after the
 * other, on a thread of its own; a process that dies later is found by looking again.
 */
final class SpoolAdopter {
  private static final Logger LOG = LoggerFactory.getLogger(SpoolAdopter.class);
  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final EventsConfig config;
  private final SpoolTools tools;
  private final IdSource ids;
  private final Nap nap;

  SpoolAdopter(EventsConfig config, SpoolTools tools, IdSource ids, Nap nap) {
    this.config = config;
    this.tools = tools;
    this.ids = ids;
    this.nap = nap;
  }

  /** Until it is told to stop. */
  void run() {
    String parent = config.spool().folder();
    while (!parent.isEmpty() && !nap.isStopping()) {
      boolean found = false;
      try {
        Optional<SpoolFolder> left = SpoolFolder.abandoned(Path.of(parent), ids);
        found = left.isPresent();
        if (left.isPresent()) {
          adopt(left.get());
        }
      } catch (IOException | RuntimeException e) {
        LOG.warn("What a dead process left can not be sent: {}", e.toString());
        found = false;
      }
      if (!found) {
        nap.rest(LOOK_NANOS);
      }
    }
  }

  private void adopt(SpoolFolder folder) throws IOException {
    LOG.info("Events that a dead process left are sent");
    try {
      EventSpool spool = new EventSpool(config, tools);
      spool.recover(folder);
      SpoolKafka kafka = new SpoolKafka(config, folder.id());
      if (new EventForwarder(spool, kafka, config, tools, nap).drain()) {
        folder.delete();
      }
    } finally {
      folder.close();
    }
  }
}
