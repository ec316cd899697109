package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
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
    cutOff(folder.resolve("binaries"));

    run();

    assertThat(folder.resolve("binaries-complete")).exists();
  }

  /** The mark of completeness is not there yet, and links lead to files that are not either. */
  private static void cutOff(Path binaries) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(binaries)) {
      files = all.toList();
    }
    List<Path> links = files.stream().filter(Files::isSymbolicLink).toList();
    assertThat(links).isNotEmpty();
    for (Path link : links) {
      Files.deleteIfExists(link.resolveSibling(Files.readSymbolicLink(link)));
    }
    List<Path> marks = files.stream().filter(file -> file.endsWith(".exists")).toList();
    assertThat(marks).hasSize(1);
    Files.delete(marks.getFirst());
  }

  private void run() throws Exception {
    try (EmbeddedPostgresServer server =
        new EmbeddedPostgresServer(folder, FreePorts.find(1).getFirst())) {
      server.start();
    }
  }
}
