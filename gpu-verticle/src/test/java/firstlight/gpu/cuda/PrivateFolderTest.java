package firstlight.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFolderTest {
  @TempDir Path parent;

  @Test
  void a_file_is_replaced_as_a_whole() throws IOException {
    Path folder = PrivateFolder.in(parent, "own");
    assertThat(PrivateFolder.in(parent, "own")).isEqualTo(folder);
    Path file = folder.resolve("file");
    PrivateFolder.write(file, new byte[] {1, 2}, new byte[] {3});
    PrivateFolder.write(file, new byte[] {4});
    assertThat(file).hasBinaryContent(new byte[] {4});
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void what_can_not_be_written_leaves_nothing_behind() throws IOException {
    Path folder = PrivateFolder.in(parent, "own");
    Path taken = Files.createDirectories(folder.resolve("taken/full")).getParent();
    assertThatThrownBy(() -> PrivateFolder.write(taken, new byte[] {1}))
        .isInstanceOf(IOException.class);
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(taken);
    }
  }
}
