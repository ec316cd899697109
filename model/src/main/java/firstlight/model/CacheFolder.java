package firstlight.model;

import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Where a user's files lie that can be fetched or made again: models, compiled kernels. */
public final class CacheFolder {
  private CacheFolder() {}

  /** Of the user who runs this. It need not exist. */
  public static Path ofUser() {
    return find(System::getenv, Path.of(System.getProperty("user.home")));
  }

  /**
   * {@code FIRSTLIGHT_HOME}, or else {@code firstlight} in {@code XDG_CACHE_HOME}, or else in the
   * folder {@code .cache}.
   *
   * @param environment the value of a variable; null or blank: not set
   * @param userHome the user's own folder
   */
  static Path find(Function<String, @Nullable String> environment, Path userHome) {
    @Nullable String home = environment.apply("FIRSTLIGHT_HOME");
    if (home != null && !home.isBlank()) {
      return Path.of(home);
    }
    @Nullable String caches = environment.apply("XDG_CACHE_HOME");
    Path base = caches == null || caches.isBlank() ? userHome.resolve(".cache") : Path.of(caches);
    return base.resolve("firstlight");
  }
}
