package firstlight.feedback;

import firstlight.lake.LakeKind;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * Where an Event's row belongs: its kind, and the date of its own time.
 *
 * @param day in UTC; null where the time can not be right
 */
record LakeFolder(LakeKind kind, @Nullable LocalDate day) {
  private static final String INVALID = "invalid";
  private static final long SANE_FIRST = LocalDate.of(2020, 1, 1).toEpochDay();
  private static final long SANE_END = LocalDate.of(2100, 1, 1).toEpochDay();
  private static final long DAY_MS = 86_400_000;

  /**
   * A time that can not be right gets a folder of its own, so that a broken clock can not make a
   * folder for every day there is.
   */
  static LakeFolder of(LakeKind kind, long epochMillis) {
    long day = Math.floorDiv(epochMillis, DAY_MS);
    boolean sane = day >= SANE_FIRST && day < SANE_END;
    return new LakeFolder(kind, sane ? LocalDate.ofEpochDay(day) : null);
  }

  boolean sane() {
    return day != null;
  }

  /** E.g. {@code kind=response/date=2026-11-29/}. */
  String path() {
    return "kind=%s/date=%s/".formatted(kind.word(), day == null ? INVALID : day);
  }
}
