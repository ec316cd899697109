package firstlight.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimeRangeTest {
  private static final Instant NOW = Instant.parse("2026-11-29T12:00:00Z");

  @ParameterizedTest
  @CsvSource({
    "30s, 2026-11-29T11:59:30Z",
    "15m, 2026-11-29T11:45:00Z",
    "1h, 2026-11-29T11:00:00Z",
    "1 H, 2026-11-29T11:00:00Z",
    "7d, 2026-11-22T12:00:00Z",
    "2w, 2026-11-15T12:00:00Z",
    "2026-11-28, 2026-11-28T00:00:00Z",
    "2026-11-28T01:02:03Z, 2026-11-28T01:02:03Z",
  })
  void a_moment_is_a_span_before_now_a_date_or_a_time(String text, Instant expected) {
    assertThat(TimeRange.moment(text, NOW)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1", "h", "-1h", "1y", "yesterday", "2026-13-01", "999999999w"})
  void what_is_no_moment_is_refused_with_what_would_be_one(String text) {
    assertThatThrownBy(() -> TimeRange.moment(text, NOW))
        .isInstanceOf(LakeFailure.class)
        .hasMessageContaining("30m, 1h or 7d");
  }

  @Test
  void a_range_ends_after_it_begins() {
    assertThatThrownBy(() -> new TimeRange(Optional.of(NOW), Optional.of(NOW)))
        .hasMessage("--since must be before --until");
  }

  @Test
  void the_condition_of_sql_says_the_same_as_the_filter_of_files() {
    TimeRange range = new TimeRange(Optional.of(NOW), Optional.of(NOW.plusMillis(1)));
    assertThat(range.condition())
        .isEqualTo(
            "true and time >= make_timestamptz(1795953600000000)"
                + " and time < make_timestamptz(1795953600001000)");
    assertThat(range.filter().toString()).contains("1795953600000000", "1795953600001000");
    assertThat(TimeRange.ALL.condition()).isEqualTo("true");
  }
}
