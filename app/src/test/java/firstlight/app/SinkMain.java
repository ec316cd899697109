package firstlight.app;

import firstlight.feedback.FeedbackConfig;
import firstlight.feedback.FeedbackVerticle;
import firstlight.lake.LakeConfig;
import firstlight.protocol.IdSource;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;

/** The sink in a JVM of its own: {@code FILE INSTANCES}. */
final class SinkMain {
  private SinkMain() {}

  public static void main(String[] arguments) throws Exception {
    ChildJvm.begin();
    Settings settings = Settings.parse(Files.readString(Path.of(arguments[0])), _ -> null);
    FeedbackConfig config = FeedbackConfig.read(settings.section("feedback"));
    LakeConfig lake = LakeConfig.read(settings.section("lake"));
    settings.problems().throwIfAny();
    Vertx vertx = Vertx.vertx();
    IdSource ids = new IdSource(new SecureRandom());
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    Node.await(
        vertx.deployVerticle(
            () -> new FeedbackVerticle(config, lake, Time.system(), ids, meters),
            new DeploymentOptions().setInstances(Integer.parseInt(arguments[1]))));
    ChildJvm.serve(vertx);
  }
}
