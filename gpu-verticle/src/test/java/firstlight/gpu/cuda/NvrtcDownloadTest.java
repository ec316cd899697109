package firstlight.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.Sha256;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NvrtcDownloadTest {
  private static final String CONTENT = "a library";

  @TempDir Path folder;

  /** A program in place of pip, which brings a package with one file. */
  private List<String> pip(String content) throws IOException {
    Path wheel = folder.resolve("package.whl");
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(wheel))) {
      out.putNextEntry(new ZipEntry("lib/" + Nvrtc.LIBRARY));
      out.write(content.getBytes(StandardCharsets.UTF_8));
    }
    return script(
        "for word; do [ \"$before\" = --dest ] && cp '"
            + wheel
            + "' \"$word\"; before=$word; done");
  }

  private List<String> script(String text) throws IOException {
    return List.of("sh", Files.writeString(folder.resolve("pip.sh"), text).toString());
  }

  private static List<NvrtcDownload.Part> parts(String path) {
    byte[] content = CONTENT.getBytes(StandardCharsets.UTF_8);
    return List.of(new NvrtcDownload.Part(path, content.length, Sha256.hex(content)));
  }

  private void assertFails(List<String> pip, String path, String message) throws IOException {
    Path cache = folder.resolve("cache");
    assertThatThrownBy(() -> new NvrtcDownload(pip, parts(path)).fetch(cache))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(message)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
    assertThat(NvrtcDownload.present(cache)).isEmpty();
    try (Stream<Path> left = Files.list(cache.resolve("nvrtc"))) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void a_package_is_fetched_once_into_a_folder_of_its_owner() throws Exception {
    Path cache = folder.resolve("cache");
    Path at = new NvrtcDownload(pip(CONTENT), parts("lib/" + Nvrtc.LIBRARY)).fetch(cache);
    assertThat(at.resolve(Nvrtc.LIBRARY)).hasContent(CONTENT);
    assertThat(Files.getPosixFilePermissions(at))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    try (Stream<Path> files = Files.list(at)) {
      assertThat(files).hasSize(1);
    }
    assertThat(NvrtcDownload.present(cache)).contains(at);
    assertThat(new NvrtcDownload(List.of("false"), parts("lib/other")).fetch(cache)).isEqualTo(at);
  }

  @Test
  void a_file_that_is_not_the_expected_one_is_not_kept() throws IOException {
    String path = "lib/" + Nvrtc.LIBRARY;
    assertFails(pip("a librarY"), path, "is not the one expected");
    assertFails(pip("a libra"), path, "is not the one expected");
    assertFails(pip("an evil " + CONTENT), path, "is not the one expected");
  }

  @Test
  void a_package_without_the_file_is_named() throws IOException {
    assertFails(pip(CONTENT), "lib/other", "nvidia-cuda-nvrtc==13.0.88 has no file lib/other");
  }

  @Test
  void what_pip_complains_of_is_told_in_a_line() throws IOException {
    assertFails(
        script("echo Looking; echo 'ERROR: No matching distribution'; echo bye; exit 1"),
        "lib/x",
        "pip can not get nvidia-cuda-nvrtc==13.0.88: ERROR: No matching distribution");
    assertFails(
        script("echo 'ProxyError: no'; echo 'ERROR: No matching distribution'; exit 1"),
        "lib/x",
        "pip can not get nvidia-cuda-nvrtc==13.0.88: the package index is not reachable");
    assertFails(script("exit 0"), "lib/x", "pip did not bring nvidia-cuda-nvrtc==13.0.88");
    assertFails(List.of("firstlight-no-such-program"), "lib/x", "can not be run");
  }

  @Test
  void a_folder_in_which_others_may_write_is_not_trusted() throws Exception {
    Path cache = folder.resolve("cache");
    Path at = new NvrtcDownload(pip(CONTENT), parts("lib/" + Nvrtc.LIBRARY)).fetch(cache);
    Files.setPosixFilePermissions(at, PosixFilePermissions.fromString("rwxrwx---"));
    assertThat(NvrtcDownload.present(cache)).isEmpty();
    assertThatThrownBy(() -> new NvrtcDownload(pip(CONTENT), parts("lib/x")).fetch(cache))
        .hasMessageContaining("can be written by others");
  }
}
