package firstlight.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelSourcesTest {
  @TempDir Path folder;

  private KernelSources read(String list) throws IOException {
    Files.writeString(folder.resolve("sources.txt"), list);
    return KernelSources.of(KernelFiles.ofFolder(folder));
  }

  @Test
  void the_list_says_which_files_there_are() throws IOException {
    Files.writeString(folder.resolve("kernels.cu"), "main");
    Files.writeString(folder.resolve("one.cuh"), "first");
    Files.writeString(folder.resolve("two.cuh"), "second");
    assertThat(read("kernels.cu\n\ntwo.cuh\none.cuh\n"))
        .isEqualTo(new KernelSources("main", Map.of("one.cuh", "first", "two.cuh", "second")));
  }

  @Test
  void a_list_that_is_wrong_says_how() throws IOException {
    Files.writeString(folder.resolve("kernels.cu"), "main");
    assertThatThrownBy(() -> read("")).hasMessageContaining("does not begin with kernels.cu");
    assertThatThrownBy(() -> read("one.cuh\nkernels.cu\n"))
        .hasMessageContaining("does not begin with kernels.cu");
    assertThatThrownBy(() -> read("kernels.cu\none.cuh\n")).hasMessage("one.cuh is missing");
    assertThatThrownBy(() -> read("kernels.cu\n../one.cuh\n"))
        .hasMessageContaining("not one of a file: ../one.cuh");
  }

  @Test
  void every_change_changes_the_digest() {
    String digest = new KernelSources("main", Map.of("a", "one", "b", "two")).digest();
    assertThat(digest).matches("[0-9a-f]{64}");
    assertThat(new KernelSources("main", Map.of("b", "two", "a", "one")).digest())
        .isEqualTo(digest);
    assertThat(new KernelSources("mai", Map.of("a", "one", "b", "two")).digest())
        .isNotEqualTo(digest);
    assertThat(new KernelSources("main", Map.of("a", "two", "b", "one")).digest())
        .isNotEqualTo(digest);
    assertThat(new KernelSources("main", Map.of("a", "onet", "b", "wo")).digest())
        .isNotEqualTo(digest);
    assertThat(new KernelSources("main", Map.of("a", "one")).digest()).isNotEqualTo(digest);
  }

  @Test
  void the_digest_has_every_name_length_and_text_in_the_order_of_the_names() {
    StringBuilder all = new StringBuilder("kernels.cu\n4\nmain\n");
    Map<String, String> headers = new HashMap<>();
    for (String name : List.of("a", "b", "c", "d", "e", "f", "g", "h")) {
      headers.put(name, "text " + name);
      all.append(name).append("\n6\ntext ").append(name).append('\n');
    }
    for (String option : Nvrtc.OPTIONS) {
      all.append("option\n").append(option.length()).append('\n').append(option).append('\n');
    }
    assertThat(new KernelSources("main", headers).digest()).isEqualTo(Sha256.hex(all.toString()));
  }
}
