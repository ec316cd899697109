package firstlight.app;

import firstlight.lake.LakeQuery;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A question for the newest rows of one table, put together from what a command was given. */
final class NewestRows {
  private static final String RANGE = "1h";

  private final StringBuilder sql;
  private final List<Object> values = new ArrayList<>();

  /**
   * @param select up to the table, without conditions
   */
  NewestRows(String select) {
    sql = new StringBuilder(select).append(" where true");
  }

  /** Only rows with this value in the column; null: any. */
  NewestRows where(String column, @Nullable String wanted) {
    if (wanted != null) {
      sql.append(" and ").append(column).append(" = ?");
      values.add(wanted);
    }
    return this;
  }

  /**
   * @param among decides between rows of the same time
   */
  NewestRows newest(String among, int limit) {
    sql.append(" order by time desc, %s limit %d".formatted(among, Math.max(0, limit)));
    return this;
  }

  /** Asks, and writes the rows. Returns the exit code. */
  int show(LakeOptions lake, RangeOptions range, RowOptions rows) throws Exception {
    LakeQuery query = new LakeQuery(sql.toString(), values);
    return lake.run(services -> rows.write(services, query, range.range(Instant.now(), RANGE)));
  }
}
