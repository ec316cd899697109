package firstlight.model;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What {@code namespace()} makes: attributes that inner scopes may set. */
record JinjaNamespace(Map<String, @Nullable Object> values) {
  JinjaNamespace() {
    this(new HashMap<>());
  }

  // Identity: a namespace may hold itself.
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
