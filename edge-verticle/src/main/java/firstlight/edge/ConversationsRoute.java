package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.ConversationId;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredConversation;
import firstlight.protocol.TenantId;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** OpenAI's Conversations: {@code /v1/conversations} and what is under it. */
final class ConversationsRoute implements Dialect {
  static final String ID_PREFIX = "conv_";
  static final String TURN_PREFIX = "items_";

  private static final String PATH = "/v1/conversations";
  private static final String ONE = PATH + "/:id";
  private static final String ITEMS = ONE + "/items";
  private static final String ITEM = ITEMS + "/:item";
  private static final String ID_PARAM = "conversation_id";
  private static final String INCLUDE = "include";
  private static final int ITEMS_MAX = 20;
  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);

  private final EdgeParts parts;
  private final ConversationStore store;

  ConversationsRoute(EdgeParts parts) {
    this(parts, new ResponseStore(parts.vertx().eventBus(), STORE_TIMEOUT));
  }

  ConversationsRoute(EdgeParts parts, ResponseStore store) {
    this.parts = parts;
    this.store = new ConversationStore(store, parts.json(), ID_PARAM);
  }

  @Override
  public void mount(Router router) {
    router.post(PATH).handler(http -> answer(http, this::create));
    router.get(ONE).handler(http -> answer(http, this::get));
    router.post(ONE).handler(http -> answer(http, this::change));
    router.delete(ONE).handler(http -> answer(http, this::delete));
    router.get(ITEMS).handler(http -> answer(http, this::list));
    router.post(ITEMS).handler(http -> answer(http, this::append));
    router.get(ITEM).handler(http -> answer(http, this::item));
    router.delete(ITEM).handler(http -> answer(http, this::remove));
  }

  private void answer(RoutingContext http, Function<RoutingContext, Future<ObjectNode>> route) {
    Future.succeededFuture(http)
        .compose(route::apply)
        .onSuccess(object -> Reply.json(http, 200, object))
        .onFailure(failure -> Errors.answer(http, failure));
  }

  private Future<ObjectNode> create(RoutingContext http) {
    return body(http)
        .compose(
            body -> {
              ObjectNode metadata = ResponsesReader.metadata(body);
              ArrayNode items = items(body);
              ignored(http, body);
              ConversationId id = new ConversationId(parts.ids().next(ID_PREFIX));
              return store
                  .create(tenant(http), id, now(), metadata)
                  .compose(
                      conversation ->
                          items.isEmpty()
                              ? Future.succeededFuture(conversation)
                              : addFirst(conversation, items));
            })
        .map(this::resource);
  }

  private Future<ObjectNode> get(RoutingContext http) {
    return store.find(tenant(http), id(http)).map(this::resource);
  }

  private Future<ObjectNode> change(RoutingContext http) {
    return body(http)
        .compose(
            body -> {
              body.require(body.has("metadata"), "metadata", "is missing");
              ObjectNode metadata = ResponsesReader.metadata(body);
              ignored(http, body);
              return store.change(tenant(http), id(http), metadata);
            })
        .map(this::resource);
  }

  private Future<ObjectNode> delete(RoutingContext http) {
    ConversationId id = id(http);
    return store
        .delete(tenant(http), id)
        .map(
            _ ->
                Json.object()
                    .put("id", id.value())
                    .put("object", "conversation.deleted")
                    .put("deleted", true));
  }

  private Future<ObjectNode> list(RoutingContext http) {
    ignored(http, List.of());
    return store
        .items(tenant(http), id(http))
        .map(items -> ResponseItemList.page(items.all(parts.json()), http.queryParams()));
  }

  private Future<ObjectNode> append(RoutingContext http) {
    return body(http)
        .compose(
            body -> {
              ArrayNode items = items(body);
              body.require(!items.isEmpty(), "items", "must have at least one Item");
              ignored(http, body);
              return store
                  .items(tenant(http), id(http))
                  .compose(
                      known -> {
                        ArrayNode fresh = known.fresh(items, parts.json(), parts.ids());
                        return add(known, fresh).map(_ -> whole(fresh));
                      });
            });
  }

  private Future<ObjectNode> item(RoutingContext http) {
    ignored(http, List.of());
    return found(http).map(ObjectNode.class::cast);
  }

  private Future<ObjectNode> remove(RoutingContext http) {
    return found(http)
        .compose(_ -> store.remove(tenant(http), id(http), http.pathParam("item")))
        .map(this::resource);
  }

  private Future<JsonNode> found(RoutingContext http) {
    String id = http.pathParam("item");
    return store
        .items(tenant(http), id(http))
        .map(
            items -> {
              JsonNode item = items.find(id, parts.json());
              if (item == null) {
                throw new MeshException(
                    FailureKind.NOT_FOUND,
                    "item_not_found",
                    "The conversation has no Item '%s'.".formatted(EdgeModels.shown(id)),
                    "item_id",
                    0);
              }
              return item;
            });
  }

  private Future<StoredConversation> addFirst(StoredConversation conversation, ArrayNode items) {
    ConversationItems none = new ConversationItems(conversation, List.of());
    return add(none, none.fresh(items, parts.json(), parts.ids()));
  }

  private Future<StoredConversation> add(ConversationItems known, ArrayNode items) {
    ResponseId turn = new ResponseId(parts.ids().next(TURN_PREFIX));
    return store.append(known.conversation(), turn, now(), items);
  }

  private Future<Fields> body(RoutingContext http) {
    return parts.bodies().object(http).map(Fields::new);
  }

  private ArrayNode items(Fields body) {
    ResponseId name = new ResponseId(parts.ids().next(ResponseResource.ID_PREFIX));
    ArrayNode items =
        new ResponseItems(parts.config().limits(), name).list(body, "items", ITEMS_MAX);
    for (int i = 0; i < items.size(); i++) {
      boolean reference = items.get(i).path("type").asText().equals("item_reference");
      body.require(!reference, "items[%d].type".formatted(i), "is item_reference: send the Item");
    }
    return items;
  }

  private static ObjectNode whole(ArrayNode items) {
    MultiMap all = MultiMap.caseInsensitiveMultiMap().add("order", "asc");
    return ResponseItemList.page(items, all);
  }

  private ObjectNode resource(StoredConversation conversation) {
    ObjectNode resource =
        Json.object()
            .put("id", conversation.id().value())
            .put("object", "conversation")
            .put("created_at", conversation.created() / 1_000);
    resource.set("metadata", parts.json().value(conversation.metadata()));
    return resource;
  }

  private static void ignored(RoutingContext http, Fields body) {
    ignored(http, body.unread());
  }

  /** Nothing that {@code include} may ask for is kept with an Item. */
  private static void ignored(RoutingContext http, List<String> unread) {
    boolean included =
        http.queryParams().contains(INCLUDE) || http.queryParams().contains(INCLUDE + "[]");
    IgnoredFields.tell(
        http.response(),
        included ? Stream.concat(unread.stream(), Stream.of(INCLUDE)).toList() : unread);
  }

  private static TenantId tenant(RoutingContext http) {
    return Caller.of(http).tenant();
  }

  private static ConversationId id(RoutingContext http) {
    return ConversationStore.id(http.pathParam("id"), ID_PARAM);
  }

  private long now() {
    return parts.time().epochMillis();
  }
}
