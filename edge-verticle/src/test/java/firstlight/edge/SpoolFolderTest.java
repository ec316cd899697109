package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.IdSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpoolFolderTest {
  @TempDir Path parent;

  private final IdSource ids = new IdSource(new Random(1));

  @Test
  void one_folder_belongs_to_one_owner_and_the_next_one_goes_on_in_it() throws Exception {
    SpoolFolder first = SpoolFolder.own(parent, ids);
    SpoolFolder second = SpoolFolder.own(parent, ids);
    assertThat(second.path()).isNotEqualTo(first.path());
    assertThat(SpoolFolder.abandoned(parent, ids)).isEmpty();

    first.close();
    try (SpoolFolder heir = SpoolFolder.own(parent, ids)) {
      assertThat(heir.path()).isEqualTo(first.path());
      assertThat(heir.id()).isEqualTo(first.id());
    }
    second.close();
  }

  @Test
  void its_id_goes_with_what_is_in_it() throws Exception {
    SpoolFolder first = SpoolFolder.own(parent, ids);
    first.close();
    Files.move(first.path(), parent.resolve("spool-moved"));
    try (SpoolFolder moved = SpoolFolder.own(parent, ids)) {
      assertThat(moved.id()).isEqualTo(first.id());
    }
    Files.delete(parent.resolve("spool-moved").resolve("id"));
    try (SpoolFolder emptied = SpoolFolder.own(parent, ids)) {
      assertThat(emptied.id()).isNotEqualTo(first.id());
    }
  }

  @Test
  void how_far_it_was_sent_is_kept_unless_it_is_damaged() throws Exception {
    try (SpoolFolder folder = SpoolFolder.own(parent, ids)) {
      assertThat(folder.sent()).isZero();
      folder.sent(SpoolPosition.of(7, 1_234));
      assertThat(folder.sent()).isEqualTo(SpoolPosition.of(7, 1_234));

      Path file = folder.path().resolve("sent");
      byte[] bytes = Files.readAllBytes(file);
      bytes[3] ^= 1;
      Files.write(file, bytes);
      assertThat(folder.sent()).isZero();
      Files.write(file, new byte[3]);
      assertThat(folder.sent()).isZero();
    }
  }

  @Test
  void what_is_deleted_is_gone_and_other_folders_are_left_alone() throws Exception {
    Files.createDirectories(parent.resolve("photographs"));
    SpoolFolder folder = SpoolFolder.own(parent, ids);

    folder.delete();

    assertThat(folder.path()).doesNotExist();
    assertThat(SpoolFolder.abandoned(parent, ids)).isEmpty();
    assertThat(parent.resolve("photographs")).isEmptyDirectory();
  }
}
