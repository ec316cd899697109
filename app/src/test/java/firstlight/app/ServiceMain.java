package firstlight.app;

import java.nio.file.Path;

/**
 * A service in a JVM of its own, to be killed: {@code kafka FOLDER PORT CONTROLLERPORT} or {@code
 * s3 FOLDER PORT}.
 */
final class ServiceMain {
  private ServiceMain() {}

  public static void main(String[] arguments) throws Exception {
    ChildJvm.begin();
    Path folder = Path.of(arguments[1]);
    int port = Integer.parseInt(arguments[2]);
    EmbeddedService service =
        arguments[0].equals("kafka")
            ? new EmbeddedKafka(folder, port, Integer.parseInt(arguments[3]))
            : new EmbeddedObjectStore(folder, port);
    service.start();
    ChildJvm.serve();
  }
}
