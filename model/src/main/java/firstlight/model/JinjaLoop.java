package firstlight.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What {@code loop} is inside a for. */
final class JinjaLoop {
  private final List<@Nullable Object> items;
  private final JinjaBudget budget;
  private int index = -1;
  private @Nullable List<@Nullable Object> lastChanged;

  JinjaLoop(List<@Nullable Object> items, JinjaBudget budget) {
    this.budget = budget;
    this.items = items;
  }

  void advance() {
    index++;
  }

  @Nullable Object attribute(String name) {
    return switch (name) {
      case "index" -> (long) index + 1;
      case "index0" -> (long) index;
      case "revindex" -> (long) items.size() - index;
      case "revindex0" -> (long) items.size() - index - 1;
      case "first" -> index == 0;
      case "last" -> index == items.size() - 1;
      case "length" -> (long) items.size();
      case "depth" -> 1L;
      case "depth0" -> 0L;
      case "previtem" -> index > 0 ? items.get(index - 1) : new JinjaUndefined(name);
      case "nextitem" -> index + 1 < items.size() ? items.get(index + 1) : new JinjaUndefined(name);
      case "cycle" -> (JinjaFunction) this::cycle;
      case "changed" -> (JinjaFunction) this::changed;
      default -> new JinjaUndefined(name);
    };
  }

  private @Nullable Object cycle(JinjaArguments arguments) {
    if (arguments.positional().isEmpty()) {
      throw JinjaValues.failure("loop.cycle has nothing to choose from");
    }
    return arguments.positional().get(index % arguments.positional().size());
  }

  private Object changed(JinjaArguments arguments) {
    boolean changed =
        lastChanged == null || !JinjaValues.same(lastChanged, arguments.positional(), budget);
    lastChanged = arguments.positional();
    return changed;
  }
}
