package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The rows of the lake by what they tell of.
 *
 * @param responses how many rows each Response has, by its id
 * @param feedbacks how many each feedback has, by its id
 * @param repeats event ids that stand in more than one row
 */
record LakeCount(Map<String, Long> responses, Map<String, Long> feedbacks, Set<String> repeats) {

  /** Counts what stands in files. */
  static LakeCount of(List<Path> responses, List<Path> feedbacks) throws SQLException {
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:")) {
      Set<String> repeats = new TreeSet<>();
      return new LakeCount(
          count(duck, responses, "response_id", repeats),
          count(duck, feedbacks, "feedback_id", repeats),
          repeats);
    }
  }

  private static Map<String, Long> count(
      Connection duck, List<Path> files, String column, Set<String> repeats) throws SQLException {
    Map<String, Long> counts = new HashMap<>();
    if (files.isEmpty()) {
      return counts;
    }
    String from =
        " from read_parquet(%s, union_by_name=true) "
            .formatted(files.stream().map(file -> "'" + file + "'").toList());
    String each = "select %s, count(*)%s group by all".formatted(column, from);
    try (ResultSet rows = duck.createStatement().executeQuery(each)) {
      while (rows.next()) {
        counts.put(rows.getString(1), rows.getLong(2));
      }
    }
    String twice = "select event_id" + from + "group by all having count(*) > 1";
    try (ResultSet rows = duck.createStatement().executeQuery(twice)) {
      while (rows.next()) {
        repeats.add(rows.getString(1));
      }
    }
    return counts;
  }

  boolean has(StreamLoad.Sent sent) {
    return responses.keySet().containsAll(sent.finished().keySet())
        && feedbacks.keySet().containsAll(sent.accepted());
  }

  /** What must be there is there once, and nothing else but what may be. */
  void verify(StreamLoad.Sent sent, String when) {
    assertThat(repeats).as("event ids that stand twice after %s", when).isEmpty();
    once(responses, sent.finished().keySet(), sent.cut(), "Responses after " + when);
    once(feedbacks, sent.accepted(), sent.unsure(), "feedback after " + when);
  }

  private static void once(
      Map<String, Long> counts, Set<String> musts, Set<String> mays, String what) {
    Set<String> missing = new TreeSet<>(musts);
    missing.removeAll(counts.keySet());
    assertThat(missing).as("missing %s", what).isEmpty();
    Set<String> strange = new TreeSet<>(counts.keySet());
    strange.removeAll(musts);
    strange.removeAll(mays);
    assertThat(strange).as("strange %s", what).isEmpty();
    assertThat(counts.values()).as("rows of %s", what).allMatch(count -> count == 1);
  }
}
