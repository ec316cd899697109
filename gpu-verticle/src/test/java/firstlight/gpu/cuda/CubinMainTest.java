package firstlight.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.model.CacheFolder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CubinMainTest {
  private static final String KERNEL =
      "extern \"C\" __global__ void add(float *a) { a[threadIdx.x] += 1; }\n";

  @TempDir Path classes;
  private Path folder = Path.of("");
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  @BeforeEach
  void sources() throws IOException {
    folder = Files.createDirectories(classes.resolve("firstlight/gpu/cuda"));
    Files.writeString(folder.resolve("sources.txt"), "kernels.cu\n");
    Files.writeString(folder.resolve("kernels.cu"), KERNEL);
  }

  private int run(NvrtcDownload download, CubinMain.Search search, Path cacheFolder)
      throws Exception {
    said.reset();
    return new CubinMain(classes, "sm_90a", new PrintStream(said, true, StandardCharsets.UTF_8))
        .run(download, search, cacheFolder);
  }

  /** With the compiler. */
  private int run() throws Exception {
    TestNvrtc.get();
    return run(new NvrtcDownload(), Nvrtc::find, CacheFolder.ofUser());
  }

  private String said() {
    return said.toString(StandardCharsets.UTF_8);
  }

  @Test
  void what_the_build_makes_is_what_the_start_takes() throws Exception {
    assertThat(run()).isZero();
    assertThat(said()).startsWith("1 kernels for sm_90a, ");
    KernelFiles files = KernelFiles.ofFolder(folder);
    KernelImages images =
        new KernelImages(KernelSources.of(files), files, Optional::empty, classes.resolve("cache"));
    assertThat(images.image("sm_90a").origin()).isEqualTo(KernelImages.Origin.JAR);
    assertThat(folder.resolve("kernels-sm_90a.txt"))
        .content()
        .containsPattern("add +\\d+ registers, 0 \\+ 0 bytes spilled");
  }

  @Test
  void a_second_build_of_the_same_sources_does_nothing() throws Exception {
    assertThat(run()).isZero();
    Path image = folder.resolve("kernels-sm_90a.cubin");
    Files.setLastModifiedTime(image, FileTime.fromMillis(0));
    assertThat(run()).isZero();
    assertThat(said()).isEmpty();
    assertThat(Files.getLastModifiedTime(image)).isEqualTo(FileTime.fromMillis(0));
    Files.writeString(folder.resolve("kernels.cu"), KERNEL.replace("add", "sum"));
    assertThat(run()).isZero();
    assertThat(folder.resolve("kernels-sm_90a.txt")).content().contains("sum");
  }

  @Test
  void sources_that_do_not_compile_fail_the_build_and_leave_nothing_old() throws Exception {
    assertThat(run()).isZero();
    Files.writeString(folder.resolve("kernels.cu"), KERNEL.replace("1", "one"));
    assertThat(run()).isEqualTo(1);
    assertThat(said()).contains("kernels.cu(1): error: identifier \"one\" is undefined");
    assertThat(folder.resolve("kernels-sm_90a.cubin")).doesNotExist();
    assertThat(folder.resolve("kernels-sm_90a.digest")).doesNotExist();
  }

  @Test
  void without_the_compiler_the_build_goes_on_and_says_so_in_one_line() throws Exception {
    NvrtcDownload none = new NvrtcDownload(List.of("firstlight-no-such-program"), List.of());
    assertThat(run(none, _ -> Optional.empty(), classes.resolve("cache"))).isZero();
    assertThat(said().lines())
        .containsExactly(
            "the jar has no compiled kernels; GPUs compile them at the first start:"
                + " the program firstlight-no-such-program can not be run");
    assertThat(folder.resolve("kernels-sm_90a.digest")).doesNotExist();
  }
}
