package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedPostgresServerTest {
  @TempDir private Path folder;

  @Test
  void a_start_that_was_cut_off_while_unpacking_does_not_spoil_the_next() throws Exception {
    run();
    Files.delete(folder.resolve("binaries-complete"));
    List<Path> marks;
    try (Stream<Path> files = Files.walk(folder.resolve("binaries"), 2)) {
      marks = files.filter(file -> file.endsWith(".exists")).toList();
    }
    assertThat(marks).hasSize(1);
    Files.delete(marks.getFirst());

    run();

    assertThat(folder.resolve("binaries-complete")).exists();
  }

  private void run() throws Exception {
    try (EmbeddedPostgresServer server =
        new EmbeddedPostgresServer(folder, FreePorts.find(1).getFirst())) {
      server.start();
    }
  }
}
