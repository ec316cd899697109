package firstlight.model;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Names and their values; a name that is not here is looked for in the scope around. */
final class JinjaScope {
  private final @Nullable JinjaScope around;
  private final Map<String, @Nullable Object> values = new HashMap<>();

  JinjaScope(@Nullable JinjaScope around) {
    this.around = around;
  }

  @Nullable Object get(String name) {
    for (JinjaScope scope = this; scope != null; scope = scope.around) {
      if (scope.values.containsKey(name)) {
        return scope.values.get(name);
      }
    }
    return new JinjaUndefined(name);
  }

  void set(String name, @Nullable Object value) {
    values.put(name, value);
  }
}
