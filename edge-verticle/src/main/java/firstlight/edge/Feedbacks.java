package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.CodedOutputStream;
import firstlight.protocol.Event;
import firstlight.protocol.EventWire;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FeedbackNoted;
import firstlight.protocol.GivenFeedback;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.NoteFeedback;
import firstlight.protocol.Sha256;
import firstlight.protocol.TenantId;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Feedback;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.util.Optional;

/**
 * Takes feedback. It is not asked whether the Response is known: it may be stored later, elsewhere,
 * or not at all. What is answered with 202 is durable.
 */
final class Feedbacks {
  private final Events events;
  private final FeedbackMemory memory;
  private final FeedbackKnown known;
  private final IdSource ids;
  private final Time time;
  private final NodeId node;
  private final EdgeConfig config;
  private final TextKeeper keeper;

  /**
   * @param status 202: taken now; 200: it was taken before, word for word
   */
  record Answer(int status, String id) {
    ObjectNode json() {
      return Json.object().put("id", id).put("object", "feedback").put("status", "accepted");
    }
  }

  Feedbacks(
      Events events,
      FeedbackMemory memory,
      FeedbackKnown known,
      IdSource ids,
      Time time,
      NodeId node,
      EdgeConfig config) {
    this.events = events;
    this.memory = memory;
    this.known = known;
    this.ids = ids;
    this.time = time;
    this.node = node;
    this.config = config;
    this.keeper = new TextKeeper(config.texts());
  }

  /**
   * Fails with a {@link MeshException}: INVALID_REQUEST; CONFLICT when another feedback has the id;
   * UNAVAILABLE when it can not be made durable now.
   */
  Future<Answer> take(TenantId tenant, ObjectNode body) {
    GivenFeedback feedback;
    try {
      feedback = FeedbackReader.read(body, ids.next("fb_"));
    } catch (MeshException e) {
      return Future.failedFuture(e);
    }
    String id = feedback.feedback();
    Promise<Void> durable = Promise.promise();
    FeedbackMemory.Taken taken = new FeedbackMemory.Taken(digest(feedback), durable.future());
    FeedbackMemory.Taken before = memory.note(tenant, id, taken);
    if (before != null) {
      return before.digest().equals(taken.digest())
          ? here(before.durable()).map(_ -> new Answer(200, id))
          : Future.failedFuture(conflict());
    }
    return known
        .note(new NoteFeedback(tenant, id, taken.digest(), false))
        .compose(noted -> take(tenant, feedback, taken, noted))
        .onFailure(_ -> memory.forget(tenant, id, taken))
        .onComplete(done -> durable.handle(done.mapEmpty()));
  }

  /**
   * @param noted what the region knows of its id
   */
  private Future<Answer> take(
      TenantId tenant,
      GivenFeedback feedback,
      FeedbackMemory.Taken taken,
      Optional<FeedbackNoted> noted) {
    String id = feedback.feedback();
    if (noted.isPresent() && !noted.get().digest().equals(taken.digest())) {
      return Future.failedFuture(conflict());
    }
    if (noted.isPresent() && noted.get().durable()) {
      return Future.succeededFuture(new Answer(200, id));
    }
    return events
        .accept(
            new FeedbackFacts(
                Event.idOf(tenant, "feedback", id),
                tenant,
                feedback,
                config.text(tenant, true),
                node,
                time.epochMillis(),
                keeper))
        .onSuccess(_ -> known.note(new NoteFeedback(tenant, id, taken.digest(), true)))
        .map(_ -> new Answer(202, id));
  }

  private static MeshException conflict() {
    return new MeshException(
        FailureKind.CONFLICT,
        "feedback_conflict",
        "There is another feedback with this id. Give a changed one an id of its own.",
        "id",
        0);
  }

  /** Its outcome on our own event loop; another instance may have taken it on its own. */
  private static Future<Void> here(Future<Void> elsewhere) {
    Context context = Vertx.currentContext();
    if (context == null) {
      return elsewhere;
    }
    Promise<Void> here = Promise.promise();
    elsewhere.onComplete(done -> context.runOnContext(_ -> here.handle(done)));
    return here.future();
  }

  /** Of what was said, not of how the JSON was written. */
  private static String digest(GivenFeedback feedback) {
    Feedback wire = EventWire.of(feedback);
    byte[] bytes = new byte[wire.getSerializedSize()];
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.useDeterministicSerialization();
    try {
      wire.writeTo(out);
    } catch (IOException e) {
      throw new AssertionError("an array of the right size is full", e);
    }
    return Sha256.hex(bytes);
  }
}
