package firstlight.app;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.lang.ArchRule;
import firstlight.protocol.MeshMessage;
import java.io.Serializable;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The rules of the house that can be read off the compiled classes. */
class ArchitectureTest {
  private static final List<String> VERTICLE_MODULES =
      List.of("edge", "session", "batcher", "gpu", "feedback");

  /** What other modules must see of a verticle module beside the verticle and its config. */
  private static final Set<String> ALSO_PUBLIC =
      Set.of("CpuDevice", "Devices", "EdgeModel", "EdgeModels", "KernelTrial", "NoSuchDevice");

  private static final JavaClasses PRODUCT =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .withImportOption(ArchitectureTest::isOurs)
          .importPackages("firstlight");

  /** Neither what the gRPC generator wrote nor the test jars of our modules. */
  private static boolean isOurs(Location location) {
    return !location.contains("/firstlight/protocol/wire/")
        && !location.contains("-tests.jar")
        && !location.contains("/test-classes/");
  }

  @Test
  void there_is_something_to_check() {
    assertThat(PRODUCT.size()).isGreaterThan(100);
  }

  @Test
  void no_verticle_module_knows_another() {
    for (String module : VERTICLE_MODULES) {
      String[] others =
          VERTICLE_MODULES.stream()
              .filter(other -> !other.equals(module))
              .map(other -> "firstlight." + other + "..")
              .toArray(String[]::new);
      noClasses()
          .that()
          .resideInAPackage("firstlight." + module + "..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(others)
          .orShould()
          .dependOnClassesThat()
          .resideInAPackage("firstlight.app..")
          .check(PRODUCT);
    }
  }

  @Test
  void the_model_module_knows_none_of_ours_and_no_vertx() {
    noClasses()
        .that()
        .resideInAPackage("firstlight.model..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("firstlight..").and(resideOutsideOfPackage("firstlight.model..")))
        .orShould()
        .dependOnClassesThat()
        .resideInAPackage("io.vertx..")
        .check(PRODUCT);
  }

  @Test
  void session_and_feedback_do_without_the_model_and_protocol_without_everything() {
    noClasses()
        .that()
        .resideInAnyPackage(
            "firstlight.session..", "firstlight.feedback..", "firstlight.protocol..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("firstlight.model..")
        .check(PRODUCT);
    noClasses()
        .that()
        .resideInAPackage("firstlight.protocol..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("firstlight..").and(resideOutsideOfPackage("firstlight.protocol..")))
        .check(PRODUCT);
  }

  @Test
  void only_the_verticle_and_its_config_are_public_in_a_verticle_module() {
    List<String> tooPublic =
        PRODUCT.stream()
            .filter(type -> VERTICLE_MODULES.contains(module(type)))
            .filter(type -> !type.getPackageName().equals("firstlight.gpu.cuda"))
            .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
            .filter(type -> type.getEnclosingClass().isEmpty())
            .map(JavaClass::getSimpleName)
            .filter(name -> !name.endsWith("Verticle") && !name.endsWith("Config"))
            .filter(name -> !ALSO_PUBLIC.contains(name) && !name.equals("package-info"))
            .toList();
    assertThat(tooPublic).isEmpty();
  }

  private static String module(JavaClass type) {
    String[] parts = type.getPackageName().split("\\.");
    return parts.length > 1 ? parts[1] : "";
  }

  @Test
  void no_state_stands_in_statics() {
    noMutableStatics().check(PRODUCT);
  }

  private static ArchRule noMutableStatics() {
    return fields().that().areStatic().should().beFinal();
  }

  @Test
  void time_and_chance_are_injected() {
    clocks().check(PRODUCT);
  }

  private static ArchRule clocks() {
    return noClasses()
        .that()
        .resideOutsideOfPackage("firstlight.app..")
        .and()
        .haveNameNotMatching("firstlight\\.protocol\\.Time(\\$.*)?")
        .should()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(java.time.Instant.class, "now")
        .orShould()
        .callMethod(java.util.UUID.class, "randomUUID")
        .orShould()
        .callConstructor(java.util.Random.class)
        .orShould()
        .callMethod(Math.class, "random");
  }

  @Test
  void nobody_waits_on_an_event_loop() {
    noClasses()
        .that()
        .resideOutsideOfPackage("firstlight.app..")
        .should()
        .callMethod(io.vertx.core.Future.class, "await")
        .orShould()
        .callMethod(Thread.class, "sleep", long.class)
        .check(PRODUCT);
  }

  @Test
  void things_have_names_of_their_own() {
    noClasses()
        .should()
        .haveNameMatching(".*(Impl|Util|Utils|Helper|Manager)(\\$.*)?")
        .check(PRODUCT);
  }

  @Test
  void messages_are_records_and_never_serialised_by_java() {
    classes()
        .that()
        .areAssignableTo(MeshMessage.class)
        .and()
        .areNotInterfaces()
        .should()
        .beRecords()
        .andShould()
        .notBeAssignableTo(Serializable.class)
        .check(PRODUCT);
  }

  @Test
  void a_planted_violation_is_found() {
    JavaClasses planted = new ClassFileImporter().importClasses(Planted.class);
    assertThat(noMutableStatics().evaluate(planted).hasViolation()).isTrue();
    JavaClasses clock = new ClassFileImporter().importClasses(firstlight.app.planted.Clock.class);
    assertThat(
            noClasses()
                .should()
                .callMethod(System.class, "nanoTime")
                .evaluate(clock)
                .hasViolation())
        .isTrue();
  }

  /** Breaks a rule on purpose. */
  static final class Planted {
    static int counter;

    private Planted() {}
  }
}
