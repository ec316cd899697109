package firstlight.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A script as it is written: a command a line, words between blanks, {@code "text in quotes"} is
 * one word, {@code #} begins a comment.
 */
record MeshScript(String name, List<Line> lines) {
  private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|[^\\s\"]+");

  /** A command, with where it stands. */
  record Line(String script, int number, String text) {
    Words words() {
      List<String> words = new ArrayList<>();
      Matcher matcher = WORD.matcher(text);
      while (matcher.find()) {
        words.add(matcher.group(1) != null ? matcher.group(1) : matcher.group());
      }
      return new Words(words);
    }

    @Override
    public String toString() {
      return "%s:%d: %s".formatted(script, number, text);
    }
  }

  static MeshScript read(Path file) throws IOException {
    String name = String.valueOf(file.getFileName());
    List<Line> lines = new ArrayList<>();
    List<String> all = Files.readAllLines(file);
    for (int i = 0; i < all.size(); i++) {
      String text = all.get(i).replaceFirst("(^|\\s)#.*", "").strip();
      if (!text.isEmpty()) {
        lines.add(new Line(name, i + 1, text));
      }
    }
    return new MeshScript(name, lines);
  }

  @Override
  public String toString() {
    return name;
  }
}
