package firstlight.gpu.cuda;

import static firstlight.gpu.cuda.KernelImages.Origin.CACHE;
import static firstlight.gpu.cuda.KernelImages.Origin.COMPILED;
import static firstlight.gpu.cuda.KernelImages.Origin.JAR;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelImagesTest {
  private static final KernelSources SOURCES = sources("1.0f");
  private static final byte[] BUILT = {1, 2, 3};

  @TempDir Path folder;
  private Path jar = Path.of("");
  private Path cache = Path.of("");

  @BeforeEach
  void folders() throws IOException {
    jar = Files.createDirectory(folder.resolve("jar"));
    cache = folder.resolve("cache");
  }

  private static KernelSources sources(String added) {
    return new KernelSources(
        """
        #include "add.cuh"
        extern "C" __global__ void add(float *a) { a[threadIdx.x] += ADDED; }
        """,
        Map.of("add.cuh", "#define ADDED " + added + "\n"));
  }

  private KernelImages images(KernelSources sources, Supplier<Optional<Nvrtc>> compiler) {
    return new KernelImages(sources, KernelFiles.ofFolder(jar), compiler, cache);
  }

  private KernelImages images() {
    return images(SOURCES, () -> Optional.of(TestNvrtc.get()));
  }

  private void build(String digest) throws IOException {
    Files.write(jar.resolve("kernels-sm_90a.cubin"), BUILT);
    Files.writeString(jar.resolve("kernels-sm_90a.digest"), digest);
  }

  private List<Path> cached() throws IOException {
    try (Stream<Path> files = Files.list(cache.resolve("cuda"))) {
      return files.toList();
    }
  }

  @Test
  void the_image_of_the_build_is_taken_and_no_compiler_asked() throws IOException {
    build(SOURCES.digest());
    KernelImages.Image image =
        images(
                SOURCES,
                () -> {
                  throw new AssertionError("a compiler was asked for");
                })
            .image("sm_90a");
    assertThat(image.origin()).isEqualTo(JAR);
    assertThat(image.architecture()).isEqualTo("sm_90a");
    assertThat(image.cubin()).isEqualTo(BUILT);
  }

  @Test
  void an_image_of_other_sources_is_refused() throws IOException {
    build(sources("2.0f").digest());
    assertThatThrownBy(() -> images(SOURCES, Optional::empty).image("sm_90a"))
        .isInstanceOf(KernelsUnavailable.class);
    assertThat(images().image("sm_90a").origin()).isEqualTo(COMPILED);
  }

  @Test
  void a_digest_without_an_image_counts_as_nothing() throws IOException {
    build(SOURCES.digest());
    Files.delete(jar.resolve("kernels-sm_90a.cubin"));
    assertThatThrownBy(() -> images(SOURCES, Optional::empty).image("sm_90a"))
        .isInstanceOf(KernelsUnavailable.class);
  }

  @Test
  void without_image_and_compiler_the_operator_learns_what_to_install() throws IOException {
    build(SOURCES.digest());
    assertThatThrownBy(() -> images(SOURCES, Optional::empty).image("sm_120"))
        .isInstanceOf(KernelsUnavailable.class)
        .hasMessage(
            "there are no compiled kernels for sm_120 here, and libnvrtc.so.13, which compiles"
                + " them, was not found: install the CUDA 13 NVRTC library (e.g. the PyPI package"
                + " nvidia-cuda-nvrtc 13.0.88), or put it on LD_LIBRARY_PATH");
  }

  @Test
  void what_is_compiled_once_is_kept_for_its_owner_only() throws IOException {
    KernelImages.Image first = images().image("sm_80");
    KernelImages.Image second = images().image("sm_80");
    assertThat(first.origin()).isEqualTo(COMPILED);
    assertThat(second.origin()).isEqualTo(CACHE);
    assertThat(second.cubin()).isEqualTo(first.cubin());
    assertThat(Files.getPosixFilePermissions(cache.resolve("cuda")))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    assertThat(cached()).hasSize(1);
    assertThat(cached().getFirst().getFileName().toString())
        .matches("kernels-sm_80-[0-9a-f]{24}\\.cubin");
  }

  @Test
  void other_sources_and_other_gpus_have_files_of_their_own() throws IOException {
    images().image("sm_80");
    assertThat(images().image("sm_90a").origin()).isEqualTo(COMPILED);
    KernelImages other = images(sources("2.0f"), () -> Optional.of(TestNvrtc.get()));
    assertThat(other.image("sm_80").origin()).isEqualTo(COMPILED);
    assertThat(cached()).hasSize(3);
    assertThat(images().image("sm_80").origin()).isEqualTo(CACHE);
  }

  @Test
  void a_damaged_file_is_compiled_anew() throws IOException {
    byte[] sound = images().image("sm_80").cubin();
    Path file = cached().getFirst();
    byte[] bytes = Files.readAllBytes(file);
    byte[] flipped = bytes.clone();
    flipped[flipped.length / 2] ^= 1;
    byte[] shorter = Arrays.copyOf(bytes, bytes.length - 1);
    for (byte[] damaged : List.of(flipped, shorter, new byte[0], Sha256.begin().digest())) {
      Files.write(file, damaged);
      KernelImages.Image image = images().image("sm_80");
      assertThat(image.origin()).isEqualTo(COMPILED);
      assertThat(image.cubin()).isEqualTo(sound);
      assertThat(cached()).containsExactly(file);
      assertThat(Files.readAllBytes(file)).isEqualTo(bytes);
    }
  }

  @Test
  void a_folder_in_which_others_may_write_is_not_trusted() throws IOException {
    images().image("sm_80");
    Files.setPosixFilePermissions(
        cache.resolve("cuda"), PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThat(images().image("sm_80").origin()).isEqualTo(COMPILED);
  }

  @Test
  void a_folder_that_can_not_be_made_costs_time_only() throws IOException {
    Files.writeString(cache, "a file");
    assertThat(images().image("sm_80").origin()).isEqualTo(COMPILED);
    assertThat(images().image("sm_80").origin()).isEqualTo(COMPILED);
  }

  @Test
  void many_at_once_get_the_same_image_and_leave_one_file() throws IOException {
    Nvrtc nvrtc = TestNvrtc.get();
    List<byte[]> cubins =
        Stream.generate(() -> images(SOURCES, () -> Optional.of(nvrtc)))
            .limit(4)
            .parallel()
            .map(images -> images.image("sm_80").cubin())
            .toList();
    assertThat(cubins).allSatisfy(cubin -> assertThat(cubin).isEqualTo(cubins.getFirst()));
    assertThat(cached()).hasSize(1);
  }

  @Test
  void a_gpu_s_architecture_follows_from_its_capability() {
    assertThat(KernelImages.architecture(9, 0)).isEqualTo("sm_90a");
    assertThat(KernelImages.architecture(8, 9)).isEqualTo("sm_89");
    assertThat(KernelImages.architecture(12, 0)).isEqualTo("sm_120");
  }

  @Test
  void what_this_build_compiled_is_found_in_its_own_jar() throws IOException {
    Assumptions.assumeTrue(
        KernelFiles.ofJar().read(new ImageNames("sm_90a").digest()).isPresent(),
        "this build had no compiler for kernels");
    KernelImages.Image image = KernelImages.forGpu(9, 0, cache);
    assertThat(image.origin()).isEqualTo(JAR);
    assertThat(image.cubin()).startsWith(0x7f, 'E', 'L', 'F');
  }
}
