package firstlight.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How llama.cpp's server is started for a benchmark.
 *
 * @param command runs it; options follow
 */
record PeerServer(List<String> command, Path model, int threads, Path folder) {
  private static final int SLOTS = 16;

  /** Positions of all slots together: each has 1,024. */
  private static final int CONTEXT = 16_384;

  /** A slot for the long prompt too, and each large enough for it. */
  private static final int LONG_SLOTS = SLOTS + 1;

  private static final int LONG_CONTEXT = LONG_SLOTS * 5_120;

  Server forShort() {
    return server(SLOTS, CONTEXT);
  }

  Server forLong() {
    return server(LONG_SLOTS, LONG_CONTEXT);
  }

  private Server server(int slots, int context) {
    int port = FreePort.find();
    List<String> all = new ArrayList<>(command);
    all.addAll(List.of("-m", model.toString(), "--host", "127.0.0.1", "--port", "" + port));
    all.addAll(List.of("-t", "" + threads, "--parallel", "" + slots, "-c", "" + context));
    return new Server("llama.cpp", all, port, "/health", "any", folder.resolve("llama-server.log"));
  }
}
