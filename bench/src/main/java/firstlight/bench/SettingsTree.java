package firstlight.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.util.LinkedHashMap;
import java.util.Map;

/** A configuration put together from settings with dotted names, such as {@code gpu.threads}. */
final class SettingsTree {
  private final Map<String, Object> root = new LinkedHashMap<>();

  /** Later ones replace earlier ones. */
  SettingsTree put(String name, Object value) {
    String[] path = name.split("\\.");
    Map<String, Object> section = root;
    for (int i = 0; i < path.length - 1; i++) {
      section = section(section, path[i]);
    }
    section.put(path[path.length - 1], value);
    return this;
  }

  SettingsTree putAll(Map<String, ?> settings) {
    settings.forEach(this::put);
    return this;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> section(Map<String, Object> parent, String name) {
    Object child = parent.get(name);
    if (!(child instanceof Map<?, ?>)) {
      child = new LinkedHashMap<String, Object>();
      parent.put(name, child);
    }
    return (Map<String, Object>) child;
  }

  /** As the text of a configuration file. */
  String yaml() {
    try {
      return new YAMLMapper().writeValueAsString(root);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("maps of plain values can be written", e);
    }
  }
}
