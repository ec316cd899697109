package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the launcher tells the JVM, as a real JVM understands it. */
class LauncherTest {
  @TempDir private Path folder;

  /** The script beside a jar, with a JDK that tells its flags instead of running the jar. */
  @BeforeEach
  void prepare() throws IOException {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Files.copy(Sources.root().resolve("firstlight"), folder.resolve("firstlight"));
    Files.createDirectories(folder.resolve("app/target"));
    Files.createFile(folder.resolve("app/target/firstlight.jar"));
    Path fake = Files.createDirectories(folder.resolve("jdk/bin")).resolve("java");
    Files.writeString(
        fake,
        """
        #!/usr/bin/env bash
        options=()
        while [ $# -gt 0 ] && [ "$1" != -jar ]; do options+=("$1"); shift; done
        [ $# -gt 0 ] && options+=(-XX:+PrintFlagsFinal -version)
        exec %s "${options[@]}"
        """
            .formatted(java));
    Files.setPosixFilePermissions(fake, PosixFilePermissions.fromString("rwx------"));
  }

  private String flags(String javaOptions) throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(List.of("bash", folder.resolve("firstlight").toString(), "up"))
            .redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
    builder.environment().put("FIRSTLIGHT_JAVA_OPTS", javaOptions);
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    return said;
  }

  private static String flag(String flags, String name) {
    Matcher line = Pattern.compile("\\b" + name + "\\s+=\\s+(\\S+)").matcher(flags);
    assertThat(line.find()).as(name).isTrue();
    return line.group(1);
  }

  @Test
  void a_large_model_may_take_most_of_the_machine_and_garbage_only_a_little() throws Exception {
    String flags = flags("");

    long machine =
        ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
    assertThat(Long.parseLong(flag(flags, "MaxHeapSize")))
        .isBetween(machine * 65 / 100, machine * 75 / 100);
    assertThat(Long.parseLong(flag(flags, "MaxNewSize")) >> 20)
        .isEqualTo(16L * Math.max(2, Runtime.getRuntime().availableProcessors()));
    assertThat(flag(flags, "UseG1GC")).isEqualTo("true");
    assertThat(flags).doesNotContainIgnoringCase("warning] ");
  }

  @Test
  void an_operators_options_win() throws Exception {
    assertThat(flag(flags("-Xmx700m -Xmn50m"), "MaxHeapSize")).isEqualTo("" + (700 << 20));
    assertThat(flag(flags("-Xmn52m"), "MaxNewSize")).isEqualTo("" + (52 << 20));
    String flags = flags("-Xshare:auto -XX:+UseSerialGC");
    assertThat(flag(flags, "UseSerialGC")).isEqualTo("true");
    assertThat(flag(flags, "UseG1GC")).isEqualTo("false");
  }
}
