package firstlight.gpu.cuda;

import firstlight.model.CacheFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;

/**
 * The kernel compiler, for tests: the one that the build fetched. Where it can not be had, the test
 * that asks is skipped and says why.
 */
final class TestNvrtc {
  private TestNvrtc() {}

  /** Asked for once, since a machine without a network takes seconds to say so. */
  private static final class Once {
    static final Optional<Nvrtc> FOUND;
    static final String REASON;

    static {
      String reason = Nvrtc.LIBRARY + " does not load";
      Optional<Path> folder = Optional.empty();
      try {
        folder = Optional.of(new NvrtcDownload().fetch(CacheFolder.ofUser()));
      } catch (IOException e) {
        reason = e.getMessage();
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
        reason = "interrupted";
      }
      FOUND = Nvrtc.find(folder);
      REASON = reason;
    }
  }

  static Nvrtc get() {
    return Once.FOUND.orElseGet(() -> Assumptions.abort(Once.REASON));
  }
}
