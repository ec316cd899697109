package firstlight.app;

import firstlight.edge.EdgeConfig;
import java.io.PrintWriter;

/** What the launcher says once the node serves. */
final class Greeting {
  private Greeting() {}

  static void print(PrintWriter out, NodeConfig config, Node node, long millis) {
    String roles =
        config.roles().stream().map(Role::word).reduce((a, b) -> a + ", " + b).orElse("");
    if (!config.has(Role.EDGE)) {
      out.printf("Node %s (%s) is in the mesh after %d ms.%n", config.name(), roles, millis);
      out.flush();
      return;
    }
    EdgeConfig edge = config.edge();
    String address = edge.localAddress(node.port());
    out.printf("%nFirstlight serves at %s after %d ms.%n", address, millis);
    config.models().forEach(model -> out.printf("  model %s%n", model.name()));
    out.println(
        edge.open()
            ? "No key is needed: it listens on %s only for whoever reaches it there."
                .formatted(edge.host())
            : "A key is needed: -H 'Authorization: Bearer KEY'.");
    out.printf("%nTry:%n%s%n%nCtrl-C stops it.%n", example(address, config), "");
    out.flush();
  }

  private static String example(String address, NodeConfig config) {
    String key = config.edge().open() ? "" : " -H 'Authorization: Bearer KEY'";
    return """
    curl -N %s/v1/chat/completions%s -H 'Content-Type: application/json' \\
      -d '{"model":"%s","stream":true,"messages":[{"role":"user","content":"Who are you?"}]}'\
    """
        .formatted(address, key, config.models().getFirst().name());
  }
}
