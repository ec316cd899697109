package firstlight.edge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.MeshException;
import io.vertx.ext.web.Router;

/** GET /v1/models and GET /v1/models/{id}. */
final class ModelsRoute implements Dialect {
  private final EdgeModels models;

  ModelsRoute(EdgeModels models) {
    this.models = models;
  }

  @Override
  public void mount(Router router) {
    router
        .get("/v1/models")
        .handler(
            http -> {
              ObjectNode list = Json.object().put("object", "list");
              ArrayNode data = list.putArray("data");
              models.all().forEach(model -> data.add(json(model)));
              Reply.json(http, 200, list);
            });
    router
        .get("/v1/models/:model")
        .handler(
            http -> {
              try {
                Reply.json(http, 200, json(models.find(http.pathParam("model"))));
              } catch (MeshException e) {
                Errors.answer(http, e);
              }
            });
  }

  private static ObjectNode json(EdgeModel model) {
    return Json.object()
        .put("id", model.name())
        .put("object", "model")
        .put("created", model.createdSeconds())
        .put("owned_by", "firstlight")
        .put("max_model_len", Math.min(model.contextMax(), model.contextLimit()));
  }
}
