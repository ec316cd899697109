package firstlight.edge;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.Spelling;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The models that clients may name, in the order of the configuration. */
public final class EdgeModels {
  private static final int SHOWN_CHARACTERS_MAX = 64;

  private final Map<String, EdgeModel> models = new LinkedHashMap<>();

  public EdgeModels(List<EdgeModel> models) {
    models.forEach(model -> this.models.put(model.name(), model));
  }

  boolean has(String name) {
    return models.containsKey(name);
  }

  Collection<EdgeModel> all() {
    return models.values();
  }

  /**
   * @throws MeshException of kind NOT_FOUND, code model_not_found
   */
  EdgeModel find(String name) {
    EdgeModel model = models.get(name);
    if (model == null) {
      String near = Spelling.nearest(shown(name), models.keySet());
      throw new MeshException(
          FailureKind.NOT_FOUND,
          "model_not_found",
          "The model '%s' does not exist here. %s"
              .formatted(
                  shown(name),
                  near.isEmpty()
                      ? "GET /v1/models lists those that do."
                      : "Did you mean " + near + "?"),
          "model",
          0);
    }
    return model;
  }

  /** A name from outside, cut, and without characters that could fool a reader of it. */
  static String shown(String name) {
    StringBuilder shown = new StringBuilder();
    for (int i = 0; i < name.length() && i < SHOWN_CHARACTERS_MAX; i++) {
      char c = name.charAt(i);
      shown.append(c >= 0x20 && c < 0x7f ? c : '?');
    }
    return name.length() > SHOWN_CHARACTERS_MAX ? shown + "…" : shown.toString();
  }
}
