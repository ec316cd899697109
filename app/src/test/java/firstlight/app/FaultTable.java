package firstlight.app;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What each fault did to the fast path, beside an undisturbed run of the same length. */
final class FaultTable {
  private final List<String> lines = new ArrayList<>();

  FaultTable() {
    lines.add(
        "%-26s %9s %9s | %7s %7s %6s %6s | %7s %7s %6s %6s | %s"
            .formatted(
                "fault",
                "Responses",
                "feedback",
                "TTFT50",
                "TTFT99",
                "x50",
                "x99",
                "ITL50",
                "ITL99",
                "x50",
                "x99",
                "tokens calm/fault"));
  }

  void add(String fault, LakeCount lake, Latencies calm, Latencies disturbed) {
    Latencies.Ratios ratios = disturbed.over(calm);
    String line =
        String.format(
            Locale.ROOT,
            "%-26s %9d %9d | %7.1f %7.1f %6.2f %6.2f | %7.1f %7.1f %6.2f %6.2f | %d/%d",
            fault,
            lake.responses().size(),
            lake.feedbacks().size(),
            disturbed.firstMillis(0.5),
            disturbed.firstMillis(0.99),
            ratios.firstMedian(),
            ratios.firstP99(),
            disturbed.betweenMillis(0.5),
            disturbed.betweenMillis(0.99),
            ratios.betweenMedian(),
            ratios.betweenP99(),
            calm.tokens(),
            disturbed.tokens());
    lines.add(line);
    System.out.println(line);
  }

  @Override
  public String toString() {
    return String.join(System.lineSeparator(), lines);
  }
}
