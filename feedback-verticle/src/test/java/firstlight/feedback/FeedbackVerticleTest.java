package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.wire.Event;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FeedbackVerticleTest {
  private static final Duration SOON = Duration.ofMillis(300);
  private static final Duration NEVER = Duration.ofHours(1);

  private LakeTrial trial;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    trial = new LakeTrial(folder);
  }

  @AfterAll
  void stop() {
    trial.close();
  }

  @Test
  void a_hundred_responses_and_twenty_feedbacks_are_read_back_by_duckdb() throws Exception {
    FeedbackConfig config = trial.config("plain", 3, LakeTrial.files(1000, SOON));
    trial.createTopic(config);
    String sink = trial.deploy(config);
    List<Event> events = new ArrayList<>();
    IntStream.range(0, 100).mapToObj(TestEvents::response).forEach(events::add);
    IntStream.range(0, 20).mapToObj(TestEvents::feedback).forEach(events::add);

    trial.send("plain", events);
    trial.awaitRows("plain", 120);

    assertThat(
            trial.query(
                "select count(*), count(distinct event_id), sum(prompt_tokens)::bigint,"
                    + " sum(output_tokens)::bigint, sum(len(output_ids))::bigint,"
                    + " min(time) = make_timestamptz(2026,11,29,12,0,0.0,'UTC'),"
                    + " min(date)::varchar, count(error_code) from "
                    + trial.table("plain", "response")))
        .containsExactly(List.of(100L, 100L, 5950L, 4950L, 200L, true, "2026-11-29", 0L));
    assertThat(
            trial.query(
                "select count(*), round(sum(number), 6), sum(token_range.\"end\")::bigint,"
                    + " count(distinct metadata['round']), count(comment) from "
                    + trial.table("plain", "feedback")))
        .containsExactly(List.of(20L, 19.0, 230L, 20L, 0L));
    trial.undeploy(sink);
    assertThat(trial.objects("plain"))
        .allMatch(
            name ->
                name.matches(
                    "kind=(response|feedback)/date=2026-11-29/plain-[012]-\\d{20}\\.parquet"));
  }
}
