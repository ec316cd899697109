package firstlight.protocol;

import java.util.ArrayList;
import java.util.List;

/** Collects every mistake of a configuration, so that all can be told at once. */
public final class Problems {
  private final List<String> found = new ArrayList<>();

  /** Notes the message unless the condition holds. */
  public void require(boolean holds, String message) {
    if (!holds) {
      add(message);
    }
  }

  public void add(String message) {
    found.add(message);
  }

  public List<String> found() {
    return List.copyOf(found);
  }

  /**
   * @throws InvalidSettings naming all that was noted, if anything was
   */
  public void throwIfAny() {
    if (!found.isEmpty()) {
      throw new InvalidSettings(found);
    }
  }
}
