package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.MultiMap;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class AnswerTest {
  private static final long SECOND = 1_000_000_000;

  private static Answer answer(long sent, long... arrivals) {
    List<Long> list = LongStream.of(arrivals).boxed().toList();
    return new Answer(sent, 200, -1, list, list.getLast(), 200, 64, "");
  }

  @Test
  void figures_count_from_the_request() {
    Answer first = answer(0, SECOND, 3 * SECOND);
    Answer second = answer(SECOND, 3 * SECOND, 4 * SECOND);
    ServerFigures figures = new ServerFigures(List.of(first, second));
    assertThat(figures.firstTokens().percentile(99)).isEqualTo(2);
    assertThat(figures.gaps().percentile(99)).isEqualTo(2);
    assertThat(figures.tokensPerSecond()).isEqualTo(32);
    assertThat(figures.named("2 streams")).containsEntry("TTFT p50, s, 2 streams", 1.0);
  }

  @Test
  void a_stream_that_did_not_say_its_tokens_counts_by_its_pieces() {
    Answer silent = new Answer(0, 200, -1, List.of(SECOND, 2 * SECOND), 2 * SECOND, -1, -1, "");
    assertThat(new ServerFigures(List.of(silent)).tokensPerSecond()).isEqualTo(1);
  }

  @Test
  void gaps_of_a_span_are_those_that_end_in_it() {
    ServerFigures figures =
        new ServerFigures(List.of(answer(0, SECOND, 2 * SECOND, 5 * SECOND, 6 * SECOND)));
    assertThat(figures.gapsBetween(2 * SECOND, 5 * SECOND).percentile(0)).isEqualTo(3);
    assertThat(figures.gapsBetween(5 * SECOND, 9 * SECOND).percentile(100)).isEqualTo(1);
    assertThat(figures.allBegun()).isEqualTo(SECOND);
  }

  @Test
  void one_that_was_not_served_is_told() {
    Answer refused = new Answer(0, 503, 250, List.of(), SECOND, -1, -1, "503: full");
    assertThat(refused.isRefused()).isTrue();
    assertThatThrownBy(() -> new ServerFigures(List.of(refused)))
        .isInstanceOf(BenchFailure.class)
        .hasMessageContaining("full");
  }

  @Test
  void milliseconds_go_before_seconds_when_a_client_is_told_to_wait() {
    MultiMap both = MultiMap.caseInsensitiveMultiMap().add("Retry-After", "2");
    assertThat(Retry.afterMillis(both)).isEqualTo(2_000);
    assertThat(Retry.afterMillis(both.add("retry-after-ms", "1500"))).isEqualTo(1_500);
    assertThat(Retry.afterMillis(MultiMap.caseInsensitiveMultiMap())).isEqualTo(-1);
    MultiMap date = MultiMap.caseInsensitiveMultiMap().add("Retry-After", "Mon, 1 Jan");
    assertThat(Retry.afterMillis(date)).isEqualTo(-1);
  }
}
