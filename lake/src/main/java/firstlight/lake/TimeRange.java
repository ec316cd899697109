package firstlight.lake;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;

/**
 * Which Events are wanted, by the time of the fact. Events without a time are in no range that has
 * an end or a beginning.
 *
 * @param since the first moment; empty: from the beginning
 * @param until the first moment that is not wanted any more; empty: up to the newest
 */
public record TimeRange(Optional<Instant> since, Optional<Instant> until) {
  public static final TimeRange ALL = new TimeRange(Optional.empty(), Optional.empty());

  private static final Pattern SPAN = Pattern.compile("(\\d{1,9}) ?(s|m|h|d|w)");
  private static final int DAYS_MAX = 100_000;

  public TimeRange {
    if (since.isPresent() && until.isPresent() && !since.get().isBefore(until.get())) {
      throw new LakeFailure("--since must be before --until");
    }
  }

  /**
   * Reads a moment: a span before now (30s, 15m, 1h, 7d, 2w), a date (2026-11-29, midnight UTC) or
   * a time (2026-11-29T12:00:00Z).
   *
   * @throws LakeFailure when it is none of them
   */
  public static Instant moment(String text, Instant now) {
    String word = text.trim();
    Matcher span = SPAN.matcher(word.toLowerCase(Locale.ROOT));
    try {
      if (span.matches()) {
        return now.minus(length(Long.parseLong(span.group(1)), span.group(2)));
      }
      return word.contains("T")
          ? Instant.parse(word)
          : LocalDate.parse(word).atStartOfDay(ZoneOffset.UTC).toInstant();
    } catch (DateTimeParseException | ArithmeticException e) {
      throw new LakeFailure(
          "\"%s\" is no moment. Give a span before now such as 30m, 1h or 7d, a date such as"
                  .formatted(text)
              + " 2026-11-29, or a time such as 2026-11-29T12:00:00Z.");
    }
  }

  private static Duration length(long amount, String unit) {
    Duration length =
        switch (unit) {
          case "s" -> Duration.ofSeconds(amount);
          case "m" -> Duration.ofMinutes(amount);
          case "h" -> Duration.ofHours(amount);
          case "d" -> Duration.ofDays(amount);
          default -> Duration.ofDays(Math.multiplyExact(7, amount));
        };
    if (length.toDays() > DAYS_MAX) {
      throw new ArithmeticException("longer than anything");
    }
    return length;
  }

  /** The same beginning without an end: a judgement comes after what it judges. */
  public TimeRange open() {
    return new TimeRange(since, Optional.empty());
  }

  /** What Iceberg needs to leave files out. */
  Expression filter() {
    Expression filter = Expressions.alwaysTrue();
    if (since.isPresent()) {
      filter =
          Expressions.and(
              filter, Expressions.greaterThanOrEqual(LakeSchema.TIME, micros(since.get())));
    }
    if (until.isPresent()) {
      filter = Expressions.and(filter, Expressions.lessThan(LakeSchema.TIME, micros(until.get())));
    }
    return filter;
  }

  /** The same as a condition of SQL on the column of that name. */
  String condition() {
    StringBuilder condition = new StringBuilder("true");
    since.ifPresent(
        from ->
            condition.append(
                " and %s >= make_timestamptz(%d)".formatted(LakeSchema.TIME, micros(from))));
    until.ifPresent(
        end ->
            condition.append(
                " and %s < make_timestamptz(%d)".formatted(LakeSchema.TIME, micros(end))));
    return condition.toString();
  }

  static long micros(Instant moment) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, moment);
  }
}
