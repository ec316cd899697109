package firstlight.model;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;

/**
 * The real models, for tests of all modules: fetched once into the folder of the same user's
 * deployments. Where they cannot be got, the test that asks is skipped and says why.
 */
public final class TestModels {
  private static final Opened SMOLLM2 = new Opened(DefaultModels.SMOLLM2_135M);
  private static final Opened GEMMA3 = new Opened(DefaultModels.GEMMA3_270M);

  private TestModels() {}

  /** The folder of model files: what a deployment's default is, too. */
  public static Path directory() {
    return CacheFolder.ofUser().resolve("models");
  }

  public static Path smollm2() {
    return fetched(DefaultModels.SMOLLM2_135M);
  }

  public static Path gemma3() {
    return fetched(DefaultModels.GEMMA3_270M);
  }

  /** Opened once for all tests of a JVM. Do not close. */
  public static Model smollm2Model() {
    return SMOLLM2.get();
  }

  /** Opened once for all tests of a JVM. Do not close. */
  public static Model gemma3Model() {
    return GEMMA3.get();
  }

  private static Path fetched(String name) {
    try {
      return new ModelStore(directory())
          .fetch(name, DefaultModels.SOURCES.get(name), (_, _, _) -> {});
    } catch (ModelStoreException e) {
      return Assumptions.abort(e.getMessage());
    }
  }

  private static final class Opened {
    private final String name;
    private @Nullable Model model;

    Opened(String name) {
      this.name = name;
    }

    synchronized Model get() {
      if (model == null) {
        model = Model.open(name, fetched(name), null);
      }
      return model;
    }
  }
}
