package firstlight.app;

import firstlight.model.TestModels;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives the classes of field cases one Firstlight that all of them ask: it starts with the first
 * class that wants it and ends with the test run.
 */
final class SharedFirstlight implements ParameterResolver {
  private static final String CONFIGURATION =
      """
      node:
        embedded: true
        data: %s
      gpu:
        kvMemory: 256MiB
      models:
        smollm2-135m:
          default: true
        gemma3-270m:
          default: true
        gemma3-chat:
          file: %s
          template: gemma3
          contextMax: 512
      edge:
        host: 127.0.0.1
        port: 0
        open: false
        times:
          # A machine that stands still for a moment is not what these cases are about.
          replicaExpiry: 10s
        tenants:
          a:
            key: test-key-a
          b:
            key: test-key-b
      """;

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Served.class;
  }

  @Override
  public Served resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return context
        .getRoot()
        .getStore(ExtensionContext.Namespace.create(SharedFirstlight.class))
        .computeIfAbsent(Served.class, _ -> start(), Served.class);
  }

  /** One of its own; the caller closes it. */
  static Served start() {
    Path gemma = TestModels.gemma3();
    try {
      Path data = FirstlightProcess.freshFolder("cases");
      Path file = data.resolve("cases.yaml");
      Files.writeString(
          file, CONFIGURATION.formatted(data.toAbsolutePath(), gemma.toAbsolutePath()));
      return new Served(
          FirstlightProcess.start("up", "--config", file.toAbsolutePath().toString()));
    } catch (Exception e) {
      throw new AssertionError("Firstlight did not start", e);
    }
  }
}
