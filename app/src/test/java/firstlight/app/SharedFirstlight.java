package firstlight.app;

import firstlight.model.TestModels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives the classes of field cases one Firstlight that all of them ask: it starts with the first
 * class that wants it and ends with the test run. After a failed test it prints what that
 * Firstlight last logged.
 */
final class SharedFirstlight implements ParameterResolver, AfterTestExecutionCallback {
  private static final int LOGGED_LINES = 40;

  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(SharedFirstlight.class);
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
        .getStore(NAMESPACE)
        .computeIfAbsent(Served.class, _ -> start(), Served.class);
  }

  @Override
  public void afterTestExecution(ExtensionContext context) {
    Served served = context.getRoot().getStore(NAMESPACE).get(Served.class, Served.class);
    if (context.getExecutionException().isPresent() && served != null) {
      List<String> lines = served.log().lines().toList();
      System.err.println("The shared Firstlight's last lines, at " + context.getDisplayName());
      lines
          .subList(Math.max(0, lines.size() - LOGGED_LINES), lines.size())
          .forEach(System.err::println);
    }
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
