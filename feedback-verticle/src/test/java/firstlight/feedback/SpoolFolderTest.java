package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.IdSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SpoolFolderTest {
  private final IdSource ids = new IdSource(new Random(1));
  @TempDir private Path parent;

  @Test
  void what_a_dead_process_left_is_deleted_and_nothing_else() throws Exception {
    Path dead = Files.createDirectory(parent.resolve("sink-dead"));
    Files.createFile(dead.resolve(".lock"));
    Files.createFile(dead.resolve("0-0-0.parquet"));
    Path stranger = Files.createDirectory(parent.resolve("somebody-else"));
    SpoolFolder alive = SpoolFolder.open(parent, ids);
    Files.createFile(alive.path().resolve("0-1-0.parquet"));

    SpoolFolder next = SpoolFolder.open(parent, ids);

    assertThat(dead).doesNotExist();
    assertThat(stranger).exists();
    assertThat(alive.path().resolve("0-1-0.parquet")).exists();
    alive.close();
    next.close();
    assertThat(parent).isDirectoryNotContaining(path -> path.toString().contains("sink-"));
  }
}
