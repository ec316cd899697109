package firstlight.app;

import firstlight.lake.TimeRange;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The time that is asked for. */
final class RangeOptions {
  @Option(
      names = "--since",
      paramLabel = "WHEN",
      description = "From when on: a span before now (30m, 1h, 7d), a date, or a time in UTC.")
  private @Nullable String since;

  @Option(
      names = "--until",
      paramLabel = "WHEN",
      description = "Up to, but without: as --since. Default: up to the newest.")
  private @Nullable String until;

  /**
   * What was asked for.
   *
   * @param fallback when no beginning is given; null: from the very first
   */
  TimeRange range(Instant now, @Nullable String fallback) {
    return new TimeRange(
        Optional.ofNullable(since == null ? fallback : since)
            .map(text -> TimeRange.moment(text, now)),
        Optional.ofNullable(until).map(text -> TimeRange.moment(text, now)));
  }
}
