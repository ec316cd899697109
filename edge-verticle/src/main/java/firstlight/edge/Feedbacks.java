package firstlight.edge;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import firstlight.protocol.FailureKind;
import firstlight.protocol.IdSource;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.TenantId;
import firstlight.protocol.Time;
import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Feedback;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Takes feedback. It is not asked whether the Response is known: it may be stored later, elsewhere,
 * or not at all. What is answered with 202 is durable.
 */
final class Feedbacks {
  private static final int SCHEMA = 1;
  private static final int EVENT_ID_DIGITS = 32;

  private final Events events;
  private final FeedbackMemory memory;
  private final IdSource ids;
  private final Time time;
  private final NodeId node;

  /**
   * @param status 202: taken now; 200: it was taken before, word for word
   */
  record Answer(int status, String id) {
    ObjectNode json() {
      return Json.object().put("id", id).put("object", "feedback").put("status", "accepted");
    }
  }

  Feedbacks(Events events, FeedbackMemory memory, IdSource ids, Time time, NodeId node) {
    this.events = events;
    this.memory = memory;
    this.ids = ids;
    this.time = time;
    this.node = node;
  }

  /**
   * Fails with a {@link MeshException}: INVALID_REQUEST; CONFLICT when another feedback has the id;
   * UNAVAILABLE when it can not be made durable now.
   */
  Future<Answer> take(TenantId tenant, ObjectNode body) {
    Feedback feedback;
    try {
      feedback = FeedbackReader.read(body, ids.next("fb_"));
    } catch (MeshException e) {
      return Future.failedFuture(e);
    }
    String id = feedback.getFeedbackId();
    Promise<Void> durable = Promise.promise();
    FeedbackMemory.Taken taken = new FeedbackMemory.Taken(digest(feedback), durable.future());
    FeedbackMemory.Taken before = memory.note(tenant, id, taken);
    if (before != null) {
      return repeat(before, taken, id);
    }
    return events
        .accept(EventDraft.of(event(tenant, feedback)))
        .onFailure(_ -> memory.forget(tenant, id, taken))
        .onComplete(durable)
        .map(_ -> new Answer(202, id));
  }

  private static Future<Answer> repeat(
      FeedbackMemory.Taken before, FeedbackMemory.Taken now, String id) {
    if (!before.digest().equals(now.digest())) {
      return Future.failedFuture(
          new MeshException(
              FailureKind.CONFLICT,
              "feedback_conflict",
              "There is another feedback with this id. Give a changed one an id of its own.",
              "id",
              0));
    }
    return here(before.durable()).map(_ -> new Answer(200, id));
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

  private Event event(TenantId tenant, Feedback feedback) {
    return Event.newBuilder()
        .setId(eventId(tenant, feedback.getFeedbackId()))
        .setSchema(SCHEMA)
        .setTime(time.epochMillis())
        .setTenant(tenant.value())
        .setNode(node.value())
        .setFeedback(feedback)
        .build();
  }

  /** The same for every repeat, on whatever node. */
  static String eventId(TenantId tenant, String feedbackId) {
    // No TenantId has a line end.
    byte[] hash =
        sha256().digest((tenant.value() + "\n" + feedbackId).getBytes(StandardCharsets.UTF_8));
    return "ev_" + HexFormat.of().formatHex(hash).substring(0, EVENT_ID_DIGITS);
  }

  /** Of what was said, not of how the JSON was written. */
  private static ByteString digest(Feedback feedback) {
    byte[] bytes = new byte[feedback.getSerializedSize()];
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    out.useDeterministicSerialization();
    try {
      feedback.writeTo(out);
    } catch (IOException e) {
      throw new AssertionError("an array of the right size is full", e);
    }
    return ByteString.copyFrom(sha256().digest(bytes));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}
