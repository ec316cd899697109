package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real models, opened as they are served. */
class ModelTest {
  @TempDir Path folder;

  @Test
  void an_instruct_model_has_a_template() {
    Model model = TestModels.smollm2Model();
    assertThat(model.name()).isEqualTo("smollm2-135m");
    assertThat(model.file().tensors()).hasSize(272);
    assertThat(model.template()).isPresent();
    assertThat(model.tokenizer().vocabularySize()).isEqualTo(model.hyperparameters().vocabulary());
    assertThat(model.digest())
        .isEqualTo("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53");
  }

  @Test
  void a_base_model_has_no_template_but_can_be_given_one() {
    Path file = TestModels.gemma3();
    assertThat(TestModels.gemma3Model().template()).isEmpty();
    try (Model model = Model.open("gemma", file, "{{ messages[0]['content'] }}")) {
      assertThat(model.template()).isPresent();
    }
  }

  @Test
  void a_model_that_was_closed_still_has_its_tokenizer() {
    Model model = Model.open("gemma", TestModels.gemma3(), null);
    model.close();
    assertThat(model.tokenizer().vocabularySize()).isEqualTo(262_144);
    assertThat(model.tokenizer().encode("Hello")).isNotEmpty();
  }

  @Test
  void a_file_that_cannot_be_used_is_refused() {
    Path file = GgufFile.llama().without("output_norm.weight").write(folder);
    assertThatThrownBy(() -> Model.open("broken", file, null))
        .isInstanceOf(InvalidModelFile.class)
        .hasMessage(file + ": tensor 'output_norm.weight' is missing");
  }
}
