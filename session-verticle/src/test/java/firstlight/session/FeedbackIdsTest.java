package firstlight.session;

import static firstlight.session.Wait.result;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FeedbackNoted;
import firstlight.protocol.NoteFeedback;
import firstlight.protocol.SimulatedTime;
import firstlight.protocol.TenantId;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RealServices.Extension.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FeedbackIdsTest {
  private final Vertx vertx = Vertx.vertx();
  private final SimulatedTime time = new SimulatedTime();
  private final RealServices services;
  private final FeedbackIds ids;

  FeedbackIdsTest(RealServices services) {
    this.services = services;
    SessionConfig.Postgres given = services.config().postgres();
    SessionMeters meters = new SessionMeters(new SimpleMeterRegistry(), time);
    ids =
        new FeedbackIds(
            new PostgresRequests(
                vertx,
                new PostgresConnections(vertx, given, time),
                new Outage(time, Duration.ofSeconds(1), Duration.ofSeconds(1)),
                meters),
            time);
    result(new Schema(given).migrate(vertx));
  }

  @BeforeEach
  void empty() {
    services.sql("TRUNCATE " + Schema.FEEDBACK_IDS);
  }

  @AfterAll
  void close() {
    result(vertx.close());
  }

  @Test
  void the_first_one_with_an_id_stays_whatever_comes_later() {
    assertThat(note("t", "f", "one", false)).isEqualTo(new FeedbackNoted("one", false));
    assertThat(note("t", "f", "two", true)).isEqualTo(new FeedbackNoted("one", false));
    assertThat(note("t", "f", "one", true)).isEqualTo(new FeedbackNoted("one", true));
    assertThat(note("t", "f", "one", false)).isEqualTo(new FeedbackNoted("one", true));
  }

  @Test
  void ids_of_two_tenants_have_nothing_to_do_with_each_other() {
    note("t", "f", "one", true);

    assertThat(note("u", "f", "two", false)).isEqualTo(new FeedbackNoted("two", false));
  }

  @Test
  void they_are_forgotten_after_a_month() {
    note("t", "old", "one", true);
    time.advance(Duration.ofDays(31));
    note("t", "new", "one", true);

    Wait.until(
        vertx,
        Duration.ofSeconds(10),
        () ->
            ids.note(new NoteFeedback(new TenantId("t"), "old", "two", false))
                .map(noted -> noted.digest().equals("two")));
    assertThat(note("t", "new", "two", false)).isEqualTo(new FeedbackNoted("one", true));
  }

  private FeedbackNoted note(String tenant, String feedback, String digest, boolean durable) {
    return result(ids.note(new NoteFeedback(new TenantId(tenant), feedback, digest, durable)));
  }
}
