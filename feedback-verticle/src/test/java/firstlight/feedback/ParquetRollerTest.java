package firstlight.feedback;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.lake.LakeKind;
import java.time.Duration;
import java.time.LocalDate;
import org.junit.jupiter.api.Test;

final class ParquetRollerTest {
  private static final LakeFolder MONDAY =
      new LakeFolder(LakeKind.RESPONSE, LocalDate.parse("2026-11-30"));
  private static final LakeFolder TUESDAY =
      new LakeFolder(LakeKind.RESPONSE, LocalDate.parse("2026-12-01"));
  private static final FeedbackConfig.Files LIMITS =
      new FeedbackConfig.Files(3, 100, Duration.ofSeconds(30), 1, 1 << 20);

  @Test
  void a_batch_ends_with_its_last_row() {
    ParquetRoller roller = open(ParquetRoller.NO_CUT);

    assertThat(roller.take(5, MONDAY, 1)).isTrue();
    assertThat(roller.take(6, null, 1)).isTrue();
    assertThat(roller.full()).isFalse();
    assertThat(roller.take(7, MONDAY, 1)).isTrue();

    assertThat(roller.full()).isTrue();
    assertThat(roller.take(8, MONDAY, 1)).isFalse();
    assertThat(roller.last()).isEqualTo(7);
  }

  @Test
  void a_batch_ends_before_the_record_that_would_make_it_too_large() {
    ParquetRoller roller = open(ParquetRoller.NO_CUT);

    assertThat(roller.take(0, MONDAY, 60)).isTrue();
    assertThat(roller.take(1, MONDAY, 41)).isFalse();
    assertThat(roller.last()).isZero();
  }

  @Test
  void a_record_larger_than_the_limit_is_a_batch_of_its_own() {
    ParquetRoller roller = open(ParquetRoller.NO_CUT);

    assertThat(roller.take(0, MONDAY, 1000)).isTrue();
    assertThat(roller.full()).isTrue();
  }

  @Test
  void a_batch_ends_before_it_would_open_too_many_files() {
    ParquetRoller roller = open(ParquetRoller.NO_CUT);

    assertThat(roller.take(0, MONDAY, 1)).isTrue();
    assertThat(roller.take(1, TUESDAY, 1)).isFalse();
    assertThat(roller.take(1, null, 1)).isTrue();
  }

  @Test
  void a_batch_is_due_at_its_age_and_not_before_its_first_row() {
    ParquetRoller roller = open(ParquetRoller.NO_CUT);
    long age = Duration.ofSeconds(30).toNanos();

    assertThat(roller.due(2 * age)).isFalse();
    roller.take(0, MONDAY, 1);

    assertThat(roller.due(age - 1)).isFalse();
    assertThat(roller.due(age)).isTrue();
  }

  @Test
  void a_known_cut_is_the_only_rule() {
    ParquetRoller roller = open(9);

    for (int offset = 0; offset < 9; offset++) {
      assertThat(roller.take(offset, offset % 2 == 0 ? MONDAY : TUESDAY, 90)).isTrue();
    }
    assertThat(roller.full()).isFalse();
    assertThat(roller.due(Long.MAX_VALUE)).isFalse();
    assertThat(roller.mayClose()).isFalse();
    assertThat(roller.take(9, MONDAY, 90)).isTrue();

    assertThat(roller.full()).isTrue();
    assertThat(roller.mayClose()).isTrue();
    assertThat(roller.take(10, MONDAY, 1)).isFalse();
  }

  @Test
  void a_record_behind_a_known_cut_ends_the_batch_where_the_cut_itself_is_missing() {
    ParquetRoller roller = open(9);
    roller.take(7, MONDAY, 1);

    assertThat(roller.take(12, MONDAY, 1)).isFalse();
  }

  private static ParquetRoller open(long cut) {
    return new ParquetRoller(LIMITS, cut, 0);
  }
}
