package firstlight.lake;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;

/**
 * Who is exported, worked out in DuckDB before any text is read: {@code judged} has one row a
 * Response that somebody judged, {@code candidates} every Response of the range with the reason why
 * it is left out, {@code calls} the tool calls of the first answers, {@code ancestors} what the
 * candidates build on, {@code pairs} the Responses that are a choice and its opposite.
 */
final class ExportTables {
  private static final String JUDGED =
      """
      create table judged as
      select tenant, response_id, count(*) filter (good) as goods, count(*) filter (bad) as bads,
        arg_max(correction, moment) filter (correction is not null) as correction,
        avg(number) filter (good or bad) as score
      from (
        select tenant, response_id, correction, number,
          row(coalesce(time, make_timestamptz(0)), kafka_partition, kafka_offset) as moment,
          coalesce(case data_type
            when 'boolean' then number > 0
            when 'numeric' then %1$s end, false) as good,
          coalesce(case data_type
            when 'boolean' then number <= 0
            when 'numeric' then not (%1$s) end, false) as bad
        from feedback
        where response_id is not null and token_range is null and %2$s)
      group by tenant, response_id
      """;

  private static final String CANDIDATES =
      """
      create view candidates as
      select *, case
          when verdict in ('none', 'both', 'bad') and %1$s then 'judged ' || verdict
          when coalesce(len(input_messages), 0) = 0 or (output is null and %2$s) then 'no text'
          when shortened = 'text' then 'text cut'
          when len(finish_reasons) > 1 then 'several answers'
          when status <> 'completed' and %2$s then 'not completed'
          when conversation_id is not null and previous_response_id is null then 'in a conversation'
        end as reason
      from (
        select r.*, j.correction, j.score, case
            when j.correction is not null then 'correction'
            when j.goods > 0 and j.bads > 0 then 'both'
            when j.goods > 0 then 'good'
            when j.bads > 0 then 'bad'
            else 'none' end as verdict
        from responses r left join judged j using (tenant, response_id)
        where %3$s)
      """;

  private static final String CALLS =
      """
      create table calls as
      select tenant, response_id, list({'id': call_id, 'name': name,
          'arguments': case when arguments_valid then arguments end} order by index) as calls
      from tool_calls where generation = 0
      group by tenant, response_id
      """;

  private static final String LINKS =
      """
      create table links as
      select tenant, response_id, previous_response_id from responses
      where previous_response_id is not null
      """;

  /** Distinct at every step, so that a circle, which nobody makes, ends too. */
  private static final String ANCESTORS =
      """
      create table ancestors as
      with recursive chain as (
        select tenant, previous_response_id as response_id from candidates
        where reason is null and previous_response_id is not null
        union
        select l.tenant, l.previous_response_id from links l join chain using (tenant, response_id))
      select tenant, response_id, previous_response_id, output, calls,
        case when coalesce(shortened, '') <> 'text' and len(finish_reasons) <= 1
            and len(input_messages) > 0 then input_messages end as input_messages
      from responses semi join chain using (tenant, response_id)
        left join calls using (tenant, response_id)
      """;

  private static final String PAIRS =
      """
      create table pairs as
      with numbered as (
        select tenant, response_id, verdict, previous_response_id, input_messages,
          md5(output) as answered, row_number() over (
            partition by tenant, previous_response_id, input_messages, verdict
            order by time, response_id) as n
        from candidates where reason is null and verdict in ('good', 'bad'))
      select g.tenant, g.response_id as chosen, b.response_id as rejected
      from numbered g join numbered b on g.verdict = 'good' and b.verdict = 'bad'
        and g.tenant = b.tenant and g.input_messages = b.input_messages and g.n = b.n
        and g.previous_response_id is not distinct from b.previous_response_id
        and g.answered <> b.answered
      """;

  private final Connection duck;

  ExportTables(Connection duck) {
    this.duck = duck;
  }

  void make(TrainingExport.Request request) throws SQLException {
    String good =
        request.minScore().isPresent()
            ? "number >= " + request.minScore().getAsDouble()
            : "number > 0";
    String name = request.name().map(word -> "name = " + DuckColumns.literal(word)).orElse("true");
    String tenant =
        request.tenant().map(word -> "tenant = " + DuckColumns.literal(word)).orElse("true");
    boolean pairs = request.format() == TrainingExport.Format.PREFERENCE;
    String verdicts = request.all() ? "false" : pairs ? "verdict <> 'bad'" : "true";
    // A correction takes the place of an answer, unless it is to be shown beside it.
    String needsAnswer = pairs ? "true" : "verdict <> 'correction'";
    execute(JUDGED.formatted(good, name));
    execute(CANDIDATES.formatted(verdicts, needsAnswer, tenant));
    execute(CALLS);
    execute(LINKS);
    execute(ANCESTORS);
    execute("create index ancestor on ancestors(response_id)");
    if (pairs) {
      execute(PAIRS);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = duck.createStatement()) {
      statement.execute(sql);
    }
  }

  /** How many Responses are left out for each reason. */
  Map<String, Long> leftOut() throws SQLException {
    Map<String, Long> counts = new TreeMap<>();
    try (PreparedStatement statement =
            duck.prepareStatement(
                "select reason, count(*) from candidates where reason is not null group by all");
        ResultSet rows = statement.executeQuery()) {
      while (rows.next()) {
        counts.put(rows.getString(1), rows.getLong(2));
      }
    }
    return counts;
  }

  /** How many judged Responses have none of the opposite judgement beside them. */
  long alone() throws SQLException {
    try (PreparedStatement statement =
            duck.prepareStatement(
                """
                select (select count(*) from candidates
                    where reason is null and verdict in ('good', 'bad'))
                  - 2 * (select count(*) from pairs)
                """);
        ResultSet rows = statement.executeQuery()) {
      rows.next();
      return rows.getLong(1);
    }
  }
}
