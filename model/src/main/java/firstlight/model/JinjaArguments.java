package firstlight.model;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values a filter, test, method or function is called with. */
record JinjaArguments(List<@Nullable Object> positional, Map<String, @Nullable Object> named) {
  boolean has(int index, String name) {
    return index < positional.size() || named.containsKey(name);
  }

  @Nullable Object get(int index, String name, @Nullable Object otherwise) {
    return index < positional.size()
        ? positional.get(index)
        : named.containsKey(name) ? named.get(name) : otherwise;
  }

  @Nullable Object get(int index, String name) {
    if (!has(index, name)) {
      throw new TemplateException("the chat template leaves out the argument \"" + name + "\"");
    }
    return get(index, name, null);
  }

  String text(int index, String name) {
    return JinjaValues.string(get(index, name));
  }

  String text(int index, String name, String otherwise) {
    return has(index, name) ? text(index, name) : otherwise;
  }

  int integer(int index, String name, int otherwise) {
    return has(index, name) ? JinjaValues.integer(get(index, name)) : otherwise;
  }

  boolean flag(int index, String name) {
    return JinjaValues.isTrue(get(index, name, false));
  }

  /** The arguments behind the first ones. */
  JinjaArguments from(int index) {
    List<@Nullable Object> rest =
        positional.subList(Math.min(index, positional.size()), positional.size());
    return new JinjaArguments(rest, named);
  }
}
