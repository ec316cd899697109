package firstlight.bench;

import java.nio.file.Path;
import java.util.List;

/**
 * A server as a child process.
 *
 * @param name for people
 * @param command serves at the port until it is ended
 * @param readyPath answers 200 once requests are served
 * @param log takes all it writes
 */
record Server(
    String name, List<String> command, int port, String readyPath, String model, Path log) {
  Server {
    command = List.copyOf(command);
  }
}
