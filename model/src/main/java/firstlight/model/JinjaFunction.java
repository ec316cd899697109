package firstlight.model;

import org.jspecify.annotations.Nullable;

/** Something a template may call. */
interface JinjaFunction {
  @Nullable Object call(JinjaArguments arguments);
}
