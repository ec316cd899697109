package firstlight.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LockFileTest {
  @TempDir Path folder;

  /** Another process: prints whether it gets the lock. */
  static final class Other {
    private Other() {}

    public static void main(String[] arguments) throws Exception {
      System.out.println(LockFile.take(Path.of(arguments[0])).isPresent());
    }
  }

  private static boolean anotherProcessGets(Path file) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                String.join(
                    File.pathSeparator,
                    List.of(place(LockFile.class).toString(), place(Other.class).toString())),
                Other.class.getName(),
                file.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader output = process.inputReader()) {
      boolean got = Boolean.parseBoolean(output.readLine());
      process.waitFor();
      return got;
    }
  }

  private static Path place(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  @Test
  void one_owner_at_a_time_has_it_in_this_process_and_among_all() throws Exception {
    Path file = folder.resolve("lock");
    Optional<LockFile> ours = LockFile.take(file);
    assertThat(ours).isPresent();
    assertThat(LockFile.take(file)).isEmpty();
    assertThat(LockFile.take(folder.resolve("../" + folder.getFileName() + "/lock"))).isEmpty();
    assertThat(anotherProcessGets(file)).as("after we asked again ourselves").isFalse();
    ours.get().close();
    assertThat(anotherProcessGets(file)).isTrue();
    try (LockFile again = LockFile.take(file).orElseThrow()) {
      assertThat(again).isNotNull();
    }
    assertThat(Files.exists(file)).isTrue();
  }
}
