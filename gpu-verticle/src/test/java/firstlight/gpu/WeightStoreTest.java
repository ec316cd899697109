package firstlight.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.model.InvalidModelFile;
import firstlight.model.ModelFile;
import firstlight.model.TestModels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class WeightStoreTest {
  private static final int POSITIONS = 64;

  private final WeightStore store = new WeightStore();

  private WeightStore.Lease lease(ModelFile file) {
    return store.acquire(file, GpuConfig.Kernels.Q8, false, POSITIONS);
  }

  @Test
  void devices_of_one_model_share_its_weights_until_the_last_is_closed() {
    ModelFile file = TestModels.smollm2Model().file();
    List<CompletableFuture<WeightStore.Lease>> asked =
        IntStream.range(0, 3)
            .mapToObj(_ -> CompletableFuture.supplyAsync(() -> lease(file)))
            .toList();
    List<WeightStore.Lease> leases = asked.stream().map(CompletableFuture::join).toList();
    ModelWeights weights = leases.getFirst().weights();
    assertThat(leases).allMatch(lease -> lease.weights() == weights);
    leases.subList(1, 3).forEach(WeightStore.Lease::close);
    try (WeightStore.Lease again = lease(file)) {
      assertThat(again.weights()).isSameAs(weights);
    }
    leases.getFirst().close();
    try (WeightStore.Lease fresh = lease(file)) {
      assertThat(fresh.weights()).isNotSameAs(weights);
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void the_file_is_not_resident_any_more_once_it_is_packed() throws IOException {
    long before = residentFiles();
    try (ModelFile file = ModelFile.open(TestModels.smollm2());
        WeightStore.Lease _ = lease(file)) {
      long half = Files.size(file.path()) / 2;
      assertThat(residentFiles() - before).isLessThan(half);
      file.tensors().forEach(tensor -> tensor.data().load());
      assertThat(residentFiles() - before).isGreaterThan(half);
    }
  }

  /** Bytes of mapped files that are in this process's memory. */
  private static long residentFiles() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream()
        .filter(line -> line.startsWith("RssFile"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void weights_that_are_used_otherwise_are_others() {
    ModelFile file = TestModels.smollm2Model().file();
    try (WeightStore.Lease one = lease(file);
        WeightStore.Lease longer =
            store.acquire(file, GpuConfig.Kernels.Q8, false, POSITIONS + 1)) {
      assertThat(longer.weights()).isNotSameAs(one.weights());
    }
  }

  @Test
  void a_device_that_could_not_be_opened_leaves_no_weights(@TempDir Path folder)
      throws IOException {
    Path copy = Files.copy(TestModels.smollm2(), folder.resolve("copy.gguf"));
    try (ModelFile file = ModelFile.open(copy)) {
      GpuConfig config = TestDevices.config(GpuConfig.Kernels.Q8);
      int positions = DeviceShape.of(file.hyperparameters(), config).contextMax();
      boolean natively = CpuDevice.natively(config);
      WeightStore.Lease held = store.acquire(file, config.kernels(), natively, positions);
      Files.setLastModifiedTime(copy, FileTime.fromMillis(1_000_000_000_000L));
      assertThatThrownBy(() -> CpuDevice.open("copy", file, config, store))
          .isInstanceOf(InvalidModelFile.class);
      held.close();
      try (WeightStore.Lease fresh = store.acquire(file, config.kernels(), natively, positions)) {
        assertThat(fresh.weights()).isNotSameAs(held.weights());
      }
    }
  }
}
