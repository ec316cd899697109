package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.IdSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SpoolFolderTest {
  private static final int ROUNDS = 200;

  private final IdSource ids = new IdSource(new Random(1));
  @TempDir private Path parent;

  @Test
  void what_a_dead_process_left_is_deleted_and_nothing_else() throws Exception {
    Path dead = Files.createDirectory(parent.resolve("sink-dead"));
    Files.createFile(parent.resolve("sink-dead.lock"));
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

  @Test
  void sinks_that_begin_at_the_same_time_leave_each_other_alone() throws Exception {
    int threads = 4;
    CyclicBarrier together = new CyclicBarrier(threads);
    try (ExecutorService all = Executors.newFixedThreadPool(threads)) {
      List<Future<Boolean>> whole = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        IdSource own = new IdSource(new Random(10 + i));
        whole.add(all.submit(() -> opensAndKeeps(own, together)));
      }
      for (Future<Boolean> one : whole) {
        assertThat(one.get()).isTrue();
      }
    }
    assertThat(parent).isEmptyDirectory();
  }

  /** Whether its folder was there as long as it was open, many times. */
  private boolean opensAndKeeps(IdSource own, CyclicBarrier together) throws Exception {
    boolean kept = true;
    for (int i = 0; i < ROUNDS; i++) {
      together.await(20, TimeUnit.SECONDS);
      SpoolFolder folder = SpoolFolder.open(parent, own);
      together.await(20, TimeUnit.SECONDS);
      kept &= Files.isDirectory(folder.path());
      together.await(20, TimeUnit.SECONDS);
      folder.close();
    }
    return kept;
  }
}
