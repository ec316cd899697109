package firstlight.protocol;

import java.util.List;

/** The configuration can not be used; the message has a line for each mistake. */
public final class InvalidSettings extends RuntimeException {
  private final List<String> problems;

  InvalidSettings(List<String> problems) {
    super(
        "the configuration has mistakes:\n  " + String.join("\n  ", problems), null, false, false);
    this.problems = List.copyOf(problems);
  }

  public List<String> problems() {
    return problems;
  }
}
