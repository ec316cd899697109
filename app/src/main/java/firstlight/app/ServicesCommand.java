package firstlight.app;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code firstlight services}: what a node with embedded services brings, without the node. */
@Command(
    name = "services",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description =
        "Starts PostgreSQL, Kafka and an object store on this machine, or what other roles need,"
            + " without a node, until it is stopped: for benchmarks, and to try out a mesh. Their"
            + " addresses stand in services.json in the folder, by the names of the settings that"
            + " say them.")
final class ServicesCommand implements Callable<Integer> {
  @Option(
      names = "--data",
      paramLabel = "FOLDER",
      defaultValue = "data",
      description = "Where they keep their data. Default: ${DEFAULT-VALUE}.")
  private Path data = Path.of("data");

  @Option(
      names = "--roles",
      split = ",",
      paramLabel = "ROLE",
      defaultValue = "feedback,edge",
      description = "Whose: PostgreSQL and Redis are session's. Default: ${DEFAULT-VALUE}.")
  private List<String> roles = List.of();

  @Override
  public Integer call() throws Exception {
    Set<Role> wanted = roles.stream().map(Role::of).collect(Collectors.toSet());
    EmbeddedServices services = EmbeddedServices.plan(data, wanted);
    Runtime.getRuntime().addShutdownHook(new Thread(services::stop, "services-stop"));
    Node.await(services.start());
    services.announce();
    System.out.printf("the services are up; see %s%n", data.resolve("services.json"));
    new CountDownLatch(1).await();
    return 0;
  }
}
