package firstlight.edge;

import io.vertx.ext.web.Router;

/** POST /v1/feedback. */
final class FeedbackRoute implements Dialect {
  private final Bodies bodies;
  private final Feedbacks feedbacks;

  FeedbackRoute(EdgeParts parts) {
    bodies = parts.bodies();
    feedbacks =
        new Feedbacks(
            parts.events(),
            FeedbackMemory.of(parts.vertx()),
            parts.ids(),
            parts.time(),
            parts.node(),
            parts.config());
  }

  @Override
  public void mount(Router router) {
    router
        .post("/v1/feedback")
        .handler(
            http ->
                bodies
                    .object(http)
                    .compose(body -> feedbacks.take(Caller.of(http).tenant(), body))
                    .onSuccess(answer -> Reply.json(http, answer.status(), answer.json()))
                    .onFailure(failure -> Errors.answer(http, failure)));
  }
}
