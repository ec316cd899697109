package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
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
 * @param failures Responses that the edge itself ended: their clients need not know their ids
 */
record LakeCount(
    Map<String, Long> responses,
    Map<String, Long> feedbacks,
    Set<String> repeats,
    Set<String> failures) {
  private static final int SHOWN = 5;

  /** Counts what stands in files. */
  static LakeCount of(List<Path> responses, List<Path> feedbacks) throws SQLException {
    try (Connection duck = DriverManager.getConnection("jdbc:duckdb:")) {
      Set<String> repeats = new TreeSet<>();
      return new LakeCount(
          count(duck, responses, "response_id", repeats),
          count(duck, feedbacks, "feedback_id", repeats),
          repeats,
          failures(duck, responses));
    }
  }

  private static Map<String, Long> count(
      Connection duck, List<Path> files, String column, Set<String> repeats) throws SQLException {
    Map<String, Long> counts = new HashMap<>();
    if (files.isEmpty()) {
      return counts;
    }
    String from = from(files);
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

  private static Set<String> failures(Connection duck, List<Path> files) throws SQLException {
    Set<String> failures = new TreeSet<>();
    if (!files.isEmpty()) {
      String ended = "where status in ('failed', 'cancelled')";
      try (ResultSet rows =
          duck.createStatement().executeQuery("select response_id" + from(files) + ended)) {
        while (rows.next()) {
          failures.add(rows.getString(1));
        }
      }
    }
    return failures;
  }

  private static String from(List<Path> files) {
    return " from read_parquet(%s, union_by_name=true) "
        .formatted(files.stream().map(file -> "'" + file + "'").toList());
  }

  boolean has(StreamLoad.Sent sent) {
    return responses.keySet().containsAll(sent.finished().keySet())
        && feedbacks.keySet().containsAll(sent.accepted());
  }

  /** Those of which there is none. */
  Set<String> missing(StreamLoad.Sent sent) {
    Set<String> missing = new TreeSet<>(sent.finished().keySet());
    missing.removeAll(responses.keySet());
    return missing;
  }

  /** What must be there is there once, and nothing else but what may be. */
  void verify(StreamLoad.Sent sent, String when) {
    List<String> complaints = new ArrayList<>();
    sent.cut().addAll(failures);
    once(responses, sent.finished().keySet(), sent.cut(), complaints, "Responses");
    once(feedbacks, sent.accepted(), sent.unsure(), complaints, "feedback");
    complain(repeats, "event ids in two rows", complaints);
    assertThat(complaints).as("the lake after %s", when).isEmpty();
  }

  private static void once(
      Map<String, Long> counts,
      Set<String> musts,
      Set<String> mays,
      List<String> complaints,
      String what) {
    Set<String> missing = new TreeSet<>(musts);
    missing.removeAll(counts.keySet());
    complain(missing, what + " missing", complaints);
    // Told once: what is lost stays lost after the next fault, too.
    musts.removeAll(missing);
    mays.addAll(missing);
    Set<String> strange = new TreeSet<>(counts.keySet());
    strange.removeAll(musts);
    strange.removeAll(mays);
    complain(strange, what + " that nobody sent", complaints);
    Set<String> twice = new TreeSet<>(counts.keySet());
    twice.removeIf(id -> counts.get(id) == 1);
    complain(twice, what + " in two rows", complaints);
  }

  private static void complain(Set<String> ids, String what, List<String> complaints) {
    if (!ids.isEmpty()) {
      List<String> few = ids.stream().limit(SHOWN).toList();
      complaints.add("%d %s, e.g. %s".formatted(ids.size(), what, few));
    }
  }
}
