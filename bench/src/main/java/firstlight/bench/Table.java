package firstlight.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import java.util.stream.IntStream;

/** A table in Markdown whose columns also stand below each other in a terminal. */
final class Table {
  private final List<List<String>> rows = new ArrayList<>();

  Table(String... head) {
    rows.add(List.of(head));
  }

  /**
   * @throws IllegalArgumentException another number of cells than the head has
   */
  void row(String... cells) {
    if (cells.length != rows.getFirst().size()) {
      throw new IllegalArgumentException("a row has as many cells as the head");
    }
    rows.add(List.of(cells));
  }

  @Override
  public String toString() {
    int columns = rows.getFirst().size();
    int[] widths =
        IntStream.range(0, columns)
            .map(column -> rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0))
            .toArray();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      text.append(line(rows.get(i), widths));
      if (i == 0) {
        text.append(rule(widths));
      }
    }
    return text.toString();
  }

  private static String line(List<String> cells, int[] widths) {
    StringJoiner line = new StringJoiner(" | ", "| ", " |\n");
    for (int column = 0; column < widths.length; column++) {
      String cell = cells.get(column);
      line.add(cell + " ".repeat(widths[column] - cell.length()));
    }
    return line.toString();
  }

  private static String rule(int[] widths) {
    StringJoiner line = new StringJoiner("|", "|", "|\n");
    for (int width : widths) {
      line.add("-".repeat(width + 2));
    }
    return line.toString();
  }
}
