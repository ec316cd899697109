package firstlight.model;

import java.util.List;

/**
 * Whether a model may or must call a tool.
 *
 * @param names the only tools that may be called; empty: all
 */
public record ToolChoice(Mode mode, List<String> names) {
  public static final ToolChoice AUTO = new ToolChoice(Mode.AUTO, List.of());
  public static final ToolChoice NONE = new ToolChoice(Mode.NONE, List.of());
  public static final ToolChoice REQUIRED = new ToolChoice(Mode.REQUIRED, List.of());

  /** How free it is. */
  public enum Mode {
    /** It may. */
    AUTO,
    /** It must not; tools stay in the prompt. */
    NONE,
    /** It must, at least once. */
    REQUIRED,
    /** It must call the one tool that is named, and once only. */
    NAMED;

    /** Whether there must be a call. */
    public boolean isMust() {
      return this == REQUIRED || this == NAMED;
    }
  }

  /** The one that must be called. */
  public static ToolChoice named(String name) {
    return new ToolChoice(Mode.NAMED, List.of(name));
  }

  public ToolChoice {
    names = List.copyOf(names);
  }
}
