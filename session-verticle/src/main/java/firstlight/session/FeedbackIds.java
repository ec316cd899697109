package firstlight.session;

import firstlight.protocol.FeedbackNoted;
import firstlight.protocol.NoteFeedback;
import firstlight.protocol.Time;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Duration;

/** Which ids of feedback are taken in the region. They are forgotten after a time. */
final class FeedbackIds {
  private static final long KEPT_MILLIS = Duration.ofDays(30).toMillis();
  private static final long SWEEP_MILLIS = Duration.ofHours(1).toMillis();

  /** The row as it was before, where there was one; what it says never changes. */
  private static final String NOTE =
      """
      INSERT INTO %1$s AS known (tenant, feedback, digest, durable, taken)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (tenant, feedback) DO UPDATE
      SET durable = known.durable OR (EXCLUDED.durable AND known.digest = EXCLUDED.digest)
      RETURNING digest, durable
      """
          .formatted(Schema.FEEDBACK_IDS);

  private static final String SWEEP =
      "DELETE FROM %s WHERE taken < $1".formatted(Schema.FEEDBACK_IDS);

  private final PostgresRequests requests;
  private final Time time;
  private long sweptMillis;

  FeedbackIds(PostgresRequests requests, Time time) {
    this.requests = requests;
    this.time = time;
    sweptMillis = time.epochMillis();
  }

  Future<FeedbackNoted> note(NoteFeedback note) {
    long now = time.epochMillis();
    if (now - sweptMillis >= SWEEP_MILLIS) {
      sweptMillis = now;
      sweep(now - KEPT_MILLIS);
    }
    Tuple values =
        Tuple.of(note.tenant().value(), note.feedback(), note.digest(), note.durable(), now);
    return requests
        .send(pool -> pool.preparedQuery(NOTE).execute(values))
        .map(
            rows -> {
              Row row = rows.iterator().next();
              return new FeedbackNoted(row.getString("digest"), row.getBoolean("durable"));
            });
  }

  /** Forgets those taken before that time; a failure is seen in the metrics, and tried again. */
  private Future<Void> sweep(long before) {
    return requests.send(pool -> pool.preparedQuery(SWEEP).execute(Tuple.of(before))).mapEmpty();
  }
}
