package firstlight.lake;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.lake.ChatMessages.NotMessages;
import java.io.IOException;
import java.io.Writer;
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
  private static final String SFT =
      """
      select response_id, tenant, time, model, model_digest, dialect, previous_response_id, input,
        output, correction, verdict, score, redactions, null as rejected_id, null as rejected
      from candidates where reason is null
      """;

  private static final String CORRECTED =
      """
      select response_id, tenant, time, model, model_digest, dialect, previous_response_id, input,
        output, correction, verdict, score, redactions, response_id as rejected_id,
        output as rejected
      from candidates where reason is null and verdict = 'correction' and correction <> output
      union all
      select c.response_id, c.tenant, c.time, c.model, c.model_digest, c.dialect,
        c.previous_response_id, c.input, c.output, null, c.verdict, c.score, c.redactions,
        p.rejected, r.output
      from pairs p join candidates c on c.tenant = p.tenant and c.response_id = p.chosen
        join responses r on r.tenant = p.tenant and r.response_id = p.rejected
      """;

  private static final String ANCESTOR =
      """
      select previous_response_id, dialect, input, output from ancestors
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
  private final ChatMessages chat = new ChatMessages();
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
          PreparedStatement question = lake.connection().prepareStatement(pairs ? CORRECTED : SFT);
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
    ArrayNode messages = chat.json().createArrayNode();
    try {
      history(messages, row.getString("tenant"), row.getString("previous_response_id"), 0);
      chat.add(messages, row.getString("dialect"), row.getString("input"));
    } catch (NotMessages e) {
      leftOut.merge("not told as messages", 1L, Long::sum);
      return;
    } catch (HistoryMissing e) {
      leftOut.merge("history not there", 1L, Long::sum);
      return;
    }
    String correction = row.getString("correction");
    String answer = correction == null ? row.getString("output") : correction;
    ObjectNode line = chat.json().createObjectNode();
    if (pair) {
      line.set("prompt", messages);
      line.putArray("chosen").add(chat.said("assistant", answer));
      line.putArray("rejected").add(chat.said("assistant", row.getString("rejected")));
    } else {
      line.set("messages", messages.add(chat.said("assistant", answer)));
    }
    metadata(line.putObject("metadata"), row, pair);
    out.write(chat.json().writeValueAsString(line));
    out.write('\n');
    written++;
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

  /** What a Response builds on is not in the lake, or not in the range, or has no text. */
  private static final class HistoryMissing extends Exception {
    private static final long serialVersionUID = 1;

    HistoryMissing() {
      super(null, null, false, false);
    }
  }

  /** The turns before, oldest first. */
  private void history(ArrayNode messages, String tenant, @Nullable String response, int depth)
      throws SQLException, NotMessages, HistoryMissing {
    if (response == null) {
      return;
    }
    if (depth == HISTORY_MAX) {
      throw new HistoryMissing();
    }
    ancestors.setString(1, response);
    ancestors.setString(2, tenant);
    String previous;
    String dialect;
    String input;
    String output;
    try (ResultSet row = ancestors.executeQuery()) {
      if (!row.next()) {
        throw new HistoryMissing();
      }
      previous = row.getString("previous_response_id");
      dialect = row.getString("dialect");
      input = row.getString("input");
      output = row.getString("output");
    }
    if (input == null || output == null) {
      throw new HistoryMissing();
    }
    history(messages, tenant, previous, depth + 1);
    chat.add(messages, dialect, input);
    messages.add(chat.said("assistant", output));
  }
}
