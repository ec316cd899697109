package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** POST /v1/feedback, and the same in the words of Langfuse and LangSmith. */
final class FeedbackRoute implements Dialect {
  /** Langfuse's clients send their keys as user and password there. */
  static final String LANGFUSE = "/api/public/scores";

  static final String LANGSMITH = "/feedback";

  private final Bodies bodies;
  private final Feedbacks feedbacks;

  FeedbackRoute(EdgeParts parts) {
    bodies = parts.bodies();
    feedbacks = parts.feedbacks();
  }

  @Override
  public void mount(Router router) {
    router
        .post("/v1/feedback")
        .handler(http -> take(http, UnaryOperator.identity(), Feedbacks.Answer::json));
    router
        .post(LANGFUSE)
        .handler(http -> take(http, FeedbackShapes::ofLangfuse, FeedbackRoute::id));
    router
        .post(LANGSMITH)
        .handler(http -> take(http, FeedbackShapes::ofLangSmith, FeedbackRoute::id));
  }

  private void take(
      RoutingContext http,
      UnaryOperator<ObjectNode> shape,
      Function<Feedbacks.Answer, ObjectNode> answer) {
    bodies
        .object(http)
        .map(shape)
        .compose(body -> feedbacks.take(Caller.of(http).tenant(), body))
        .onSuccess(taken -> Reply.json(http, taken.status(), answer.apply(taken)))
        .onFailure(failure -> Errors.answer(http, failure));
  }

  private static ObjectNode id(Feedbacks.Answer taken) {
    return Json.object().put("id", taken.id());
  }
}
