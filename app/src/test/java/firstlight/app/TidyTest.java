package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.FormatterException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The rules of the house that can be read off the sources. */
class TidyTest {
  private static final int FILE_LINES_MAX = 400;
  private static final int METHOD_LINES_MAX = 70;

  /** Calls between vector operations are not inlined in a long kernel, so it is written out. */
  private static final List<String> KERNELS =
      List.of("NibbleMatrix", "FiveBitMatrix", "SixBitMatrix", "ShortPanel", "FloatPanel");

  private static final int KERNEL_LINES_MAX = 130;
  private static final int COLUMNS_MAX = 100;
  private static final int MEDIAN_FILE_LINES_MAX = 130;

  /** Constructors that take what they need by name may have more. */
  private static final int PARAMETERS_MAX = 8;

  private static final String TEXT_BLOCK = "\"\"\"";
  private static final Pattern UNFINISHED = Pattern.compile("\\b(TODO|FIXME|XXX)\\b");

  @Test
  void no_file_is_longer_than_four_hundred_lines() {
    assertThat(Sources.java())
        .filteredOn(file -> Sources.lines(file).size() > FILE_LINES_MAX)
        .extracting(file -> Sources.name(file) + ": " + Sources.lines(file).size())
        .isEmpty();
  }

  @Test
  void half_of_the_files_are_short() {
    List<Integer> lengths =
        Sources.java().stream().map(file -> Sources.lines(file).size()).sorted().toList();
    assertThat(lengths.get(lengths.size() / 2)).isLessThanOrEqualTo(MEDIAN_FILE_LINES_MAX);
  }

  @Test
  void no_method_is_longer_than_seventy_lines() throws IOException {
    assertThat(Sources.methods(Sources.java()))
        .filteredOn(
            method -> method.lines() > (isKernel(method) ? KERNEL_LINES_MAX : METHOD_LINES_MAX))
        .isEmpty();
  }

  private static boolean isKernel(Sources.Method method) {
    return KERNELS.stream().anyMatch(name -> method.file().endsWith(name + ".java"));
  }

  @Test
  void no_method_has_many_parameters() throws IOException {
    assertThat(Sources.methods(Sources.java()))
        .filteredOn(method -> method.parameters() > PARAMETERS_MAX)
        .isEmpty();
  }

  @Test
  void no_line_is_wider_than_a_hundred_columns() {
    List<String> wide = new ArrayList<>();
    for (Path file : Sources.java()) {
      List<String> lines = Sources.lines(file);
      boolean inTextBlock = false;
      for (int i = 0; i < lines.size(); i++) {
        String line = lines.get(i);
        // What stands in a text block is data: breaking its lines would change it.
        inTextBlock ^= line.split(TEXT_BLOCK, -1).length % 2 == 0;
        if (inTextBlock) {
          continue;
        }
        if (line.codePointCount(0, line.length()) > COLUMNS_MAX && !line.startsWith("import ")) {
          wide.add(Sources.name(file) + ":" + (i + 1));
        }
      }
    }
    assertThat(wide).isEmpty();
  }

  @Test
  void nothing_is_marked_unfinished() {
    assertThat(Sources.java())
        .filteredOn(file -> !file.endsWith("TidyTest.java"))
        .filteredOn(
            file -> Sources.lines(file).stream().anyMatch(line -> UNFINISHED.matcher(line).find()))
        .extracting(Sources::name)
        .isEmpty();
  }

  /** {@code -Dformat.write=true} formats the files instead of failing. */
  @Test
  void every_file_is_formatted() throws IOException, FormatterException {
    Formatter formatter = new Formatter();
    List<String> unformatted = new ArrayList<>();
    for (Path file : Sources.java()) {
      String source = Files.readString(file);
      String formatted = formatter.formatSourceAndFixImports(source);
      if (!formatted.equals(source)) {
        if (Boolean.getBoolean("format.write")) {
          Files.writeString(file, formatted);
        } else {
          unformatted.add(Sources.name(file));
        }
      }
    }
    assertThat(unformatted)
        .as("run: mvn -pl app -am test -Dtest=TidyTest -Dformat.write=true")
        .isEmpty();
  }
}
