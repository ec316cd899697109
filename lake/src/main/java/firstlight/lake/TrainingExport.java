package firstlight.lake;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.lake.ChatMessages.LeftOut;
import java.io.IOException;
import java.io.Writer;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Responses joined with their feedback, as JSON Lines for training. Rows are written as they are
 * read; only who is exported is worked out before. docs/lake.md says precisely who that is.
 */
public final class TrainingExport {
  private static final String COLUMNS =
      """
      c.tenant, c.response_id, c.time, c.model, c.model_digest, c.dialect, c.previous_response_id,
        c.input_messages, c.verdict, c.score, c.redactions\
      """;

  private static final String SFT =
      """
      select %s, coalesce(c.correction, c.output) as answer,
        case when c.correction is null then k.calls end as answer_calls
      from candidates c left join calls k using (tenant, response_id)
      where c.reason is null
      """
          .formatted(COLUMNS);

  private static final String PREFERENCE =
      """
      select %1$s, c.correction as answer, null as answer_calls, c.response_id as rejected_id,
        c.output as rejected, k.calls as rejected_calls
      from candidates c left join calls k using (tenant, response_id)
      where c.reason is null and c.verdict = 'correction' and c.correction <> c.output
      union all
      select %1$s, c.output, ck.calls, p.rejected, r.output, rk.calls
      from pairs p join candidates c on c.tenant = p.tenant and c.response_id = p.chosen
        join responses r on r.tenant = p.tenant and r.response_id = p.rejected
        left join calls ck on ck.tenant = p.tenant and ck.response_id = p.chosen
        left join calls rk on rk.tenant = p.tenant and rk.response_id = p.rejected
      """
          .formatted(COLUMNS);

  private static final String ANCESTOR =
      """
      select previous_response_id, input_messages, output, calls from ancestors
      where response_id = ? and tenant = ?
      """;

  /** Turns before a Response. */
  private static final int HISTORY_MAX = 1000;

  /** What is written a line. */
  public enum Format {
    /** Messages that end with the wanted answer. */
    SFT,
    /** A prompt with a chosen and a rejected answer. */
    PREFERENCE
  }

  /**
   * What is wanted.
   *
   * @param range of the Responses; their feedback may be younger
   * @param tenant whose; empty: everybody's
   * @param minScore from which on a numeric feedback is good; empty: above 0
   * @param name of the feedback that counts; empty: any
   * @param all whether Responses that nobody judged well are written too
   */
  public record Request(
      Format format,
      TimeRange range,
      Optional<String> tenant,
      OptionalDouble minScore,
      Optional<String> name,
      boolean all) {
    public Request {
      if (all && format == Format.PREFERENCE) {
        throw new LakeFailure("--all is for --format sft: a preference needs judgements");
      }
      if (minScore.isPresent() && !Double.isFinite(minScore.getAsDouble())) {
        throw new LakeFailure("--min-score must be a number");
      }
    }

    /** What a reader must have been opened for. */
    public Map<LakeKind, TimeRange> tables() {
      Map<LakeKind, TimeRange> tables = new EnumMap<>(LakeKind.class);
      tables.put(LakeKind.RESPONSE, range);
      tables.put(LakeKind.FEEDBACK, range.open());
      tables.put(LakeKind.TOOL_CALL, range);
      return tables;
    }
  }

  /**
   * What was done.
   *
   * @param leftOut Responses that were left out, by the reason
   */
  public record Report(long written, Map<String, Long> leftOut) {}

  private final PreparedStatement ancestors;
  private final ObjectMapper json = new ObjectMapper();
  private final Writer out;
  private final Map<String, Long> leftOut;
  private long written;

  private TrainingExport(PreparedStatement ancestors, Writer out, Map<String, Long> leftOut) {
    this.ancestors = ancestors;
    this.out = out;
    this.leftOut = leftOut;
  }

  /**
   * Writes everything.
   *
   * @throws LakeFailure when DuckDB can not do it
   * @throws IOException when the output can not be written
   */
  public static Report write(LakeReader lake, Request request, Writer out) throws IOException {
    ExportTables tables = new ExportTables(lake.connection());
    boolean pairs = request.format() == Format.PREFERENCE;
    try (Connection second = lake.another()) {
      tables.make(request);
      Map<String, Long> leftOut = new TreeMap<>(tables.leftOut());
      if (pairs && tables.alone() > 0) {
        leftOut.put("no counterpart", tables.alone());
      }
      try (PreparedStatement ancestors = second.prepareStatement(ANCESTOR);
          PreparedStatement question =
              lake.connection().prepareStatement(pairs ? PREFERENCE : SFT);
          ResultSet rows = question.executeQuery()) {
        TrainingExport export = new TrainingExport(ancestors, out, leftOut);
        while (rows.next()) {
          export.line(rows, pairs);
        }
        return new Report(export.written, Map.copyOf(leftOut));
      }
    } catch (SQLException e) {
      throw LakeReader.failure(e);
    }
  }

  private void line(ResultSet row, boolean pair) throws SQLException, IOException {
    ObjectNode line;
    try {
      line = pair ? preference(row) : messages(row);
    } catch (LeftOut e) {
      leftOut.merge(String.valueOf(e.getMessage()), 1L, Long::sum);
      return;
    }
    metadata(line.putObject("metadata"), row, pair);
    out.write(json.writeValueAsString(line));
    out.write('\n');
    written++;
  }

  private ObjectNode messages(ResultSet row) throws SQLException, LeftOut {
    ChatMessages chat = prompt(row);
    chat.add(chat.answer(row.getString("answer"), row.getArray("answer_calls")));
    return json.createObjectNode().set("messages", chat.all());
  }

  private ObjectNode preference(ResultSet row) throws SQLException, LeftOut {
    ChatMessages chat = prompt(row);
    ObjectNode line = json.createObjectNode();
    line.set("prompt", chat.all());
    line.putArray("chosen").add(chat.answer(row.getString("answer"), row.getArray("answer_calls")));
    line.putArray("rejected")
        .add(chat.answer(row.getString("rejected"), row.getArray("rejected_calls")));
    return line;
  }

  private ChatMessages prompt(ResultSet row) throws SQLException, LeftOut {
    ChatMessages chat = new ChatMessages(json);
    history(chat, row.getString("tenant"), row.getString("previous_response_id"), 0);
    chat.ask(row.getArray("input_messages"));
    return chat;
  }

  private static void metadata(ObjectNode metadata, ResultSet row, boolean pair)
      throws SQLException {
    metadata.put("response_id", row.getString("response_id"));
    if (pair) {
      metadata.put("rejected_response_id", row.getString("rejected_id"));
    }
    metadata.put("tenant", row.getString("tenant"));
    metadata.put("time", time(row.getObject("time", OffsetDateTime.class)));
    metadata.put("model", row.getString("model"));
    metadata.put("model_digest", row.getString("model_digest"));
    metadata.put("dialect", row.getString("dialect"));
    metadata.put("judgement", row.getString("verdict"));
    double score = row.getDouble("score");
    metadata.put("score", row.wasNull() ? null : (Double) score);
    metadata.put("redactions", row.getLong("redactions"));
  }

  private static @Nullable String time(@Nullable OffsetDateTime time) {
    return time == null ? null : time.toInstant().toString();
  }

  /**
   * The turns before, oldest first.
   *
   * @throws LeftOut what a Response builds on is not in the lake, or not in the range, or has no
   *     text
   */
  private void history(ChatMessages chat, String tenant, @Nullable String response, int depth)
      throws SQLException, LeftOut {
    if (response == null) {
      return;
    }
    ancestors.setString(1, response);
    ancestors.setString(2, tenant);
    String previous;
    Array input;
    String output;
    Array calls;
    try (ResultSet row = ancestors.executeQuery()) {
      if (depth == HISTORY_MAX || !row.next()) {
        throw new LeftOut("history not there");
      }
      previous = row.getString("previous_response_id");
      input = row.getArray("input_messages");
      output = row.getString("output");
      calls = row.getArray("calls");
    }
    if (input == null || output == null) {
      throw new LeftOut("history not there");
    }
    history(chat, tenant, previous, depth + 1);
    chat.ask(input);
    chat.add(chat.answer(output, calls));
  }
}
