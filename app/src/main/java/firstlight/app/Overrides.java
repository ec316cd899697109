package firstlight.app;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Settings that take the place of those in the file; names are paths such as {@code edge.port}. */
final class Overrides {
  private final Map<String, Object> values = new LinkedHashMap<>();

  void put(String path, Object value) {
    values.put(path, value);
  }

  void putIfGiven(String path, @Nullable Object value) {
    if (value != null) {
      put(path, String.valueOf(value));
    }
  }

  /** Only where the file says nothing. */
  void putDefault(Map<String, Object> tree, String path, Object value) {
    if (find(tree, path) == null) {
      put(path, value);
    }
  }

  /** A copy of the tree with the values put in; sections that are missing are made. */
  Map<String, Object> applyTo(Map<String, Object> tree) {
    Map<String, Object> result = copy(tree);
    values.forEach((path, value) -> set(result, path, value));
    return result;
  }

  private static void set(Map<String, Object> tree, String path, Object value) {
    int dot = path.indexOf('.');
    if (dot < 0) {
      tree.put(path, value);
      return;
    }
    Object section = tree.computeIfAbsent(path.substring(0, dot), _ -> new LinkedHashMap<>());
    if (section instanceof Map<?, ?> map) {
      Map<String, Object> copy = copy(map);
      set(copy, path.substring(dot + 1), value);
      tree.put(path.substring(0, dot), copy);
    }
  }

  private static @Nullable Object find(Map<?, ?> tree, String path) {
    int dot = path.indexOf('.');
    if (dot < 0) {
      return tree.get(path);
    }
    return tree.get(path.substring(0, dot)) instanceof Map<?, ?> map
        ? find(map, path.substring(dot + 1))
        : null;
  }

  private static Map<String, Object> copy(Map<?, ?> map) {
    Map<String, Object> copy = new LinkedHashMap<>();
    map.forEach((key, value) -> copy.put(String.valueOf(key), value));
    return copy;
  }
}
