package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.model.ModelFile;
import firstlight.model.TestModels;
import org.junit.jupiter.api.Test;

class KernelTrialTest {
  @Test
  void every_matrix_of_a_model_belongs_to_one_shape_and_can_be_multiplied() {
    try (ModelFile file = ModelFile.open(TestModels.smollm2())) {
      var shapes = KernelTrial.shapes(file);
      long matrices = file.tensors().stream().filter(one -> one.shape().length == 2).count();
      assertThat(shapes.stream().mapToLong(shape -> shape.names().size()).sum())
          .isEqualTo(matrices);
      assertThat(shapes).anySatisfy(shape -> assertThat(shape.names()).hasSize(30));
      KernelTrial.Shape smallest =
          shapes.stream().min((a, b) -> Long.compare(a.bytes(), b.bytes())).orElseThrow();
      GpuConfig config = TestDevices.config(GpuConfig.Kernels.Q8, 2, 16);
      try (KernelTrial trial = new KernelTrial(file, config, smallest, 3)) {
        trial.run();
        trial.run();
      }
    }
  }
}
