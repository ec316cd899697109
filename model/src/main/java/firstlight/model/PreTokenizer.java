package firstlight.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * How a family of models cuts text into words before byte-pair encoding. Each expression in turn
 * cuts every piece that the ones before have left, into its matches and what is between them.
 *
 * <p>The expressions repeat only single classes of characters, so matching neither recurses nor
 * tries one stretch of text more than a few times.
 */
enum PreTokenizer {
  GPT2(List.of("gpt-2", "phi-2", "mpt", "olmo", "jais"), Expressions.GPT2),
  SMOLLM(
      List.of("smollm", "starcoder", "refact", "command-r", "codeshell", "exaone"),
      "\\p{N}",
      Expressions.GPT2),
  LLAMA3(List.of("llama-bpe", "llama3", "llama-v3", "falcon3"), Expressions.words("\\p{N}{1,3}")),
  QWEN2(List.of("qwen2", "stablelm2", "deepseek-r1-qwen"), Expressions.words("\\p{N}")),
  FALCON(List.of("falcon"), "[\\p{P}$+<=>^~|`]+", Expressions.GPT2, "[0-9][0-9][0-9]"),
  DEEPSEEK_CODER(
      List.of("deepseek-coder"),
      "[\\r\\n]",
      Expressions.SPACE + "?\\p{L}+",
      Expressions.SPACE + "?\\p{P}+",
      "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
      "\\p{N}");

  /** Shared by several families. */
  private static final class Expressions {
    // Java's \s knows ASCII only.
    static final String SPACE = "\\p{IsWhite_Space}";
    static final String NOT_SPACE = "\\P{IsWhite_Space}";
    static final String TRAILING_SPACES = SPACE + "+(?!" + NOT_SPACE + ")|" + SPACE + "+";
    static final String OTHERS = "[^\\p{IsWhite_Space}\\p{L}\\p{N}]+";
    static final String GPT2 =
        "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?" + OTHERS + "|" + TRAILING_SPACES;

    static String words(String numbers) {
      return "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
          + numbers
          + "| ?"
          + OTHERS
          + "[\\r\\n]*|"
          + SPACE
          + "*[\\r\\n]+|"
          + TRAILING_SPACES;
    }
  }

  private final List<String> names;
  private final List<Pattern> patterns;

  PreTokenizer(List<String> names, String... expressions) {
    this.names = names;
    this.patterns = Arrays.stream(expressions).map(Pattern::compile).toList();
  }

  /** The one a model file names. */
  static Optional<PreTokenizer> named(String name) {
    return Arrays.stream(values()).filter(one -> one.names.contains(name)).findFirst();
  }

  /** All names that model files may use. */
  static String knownNames() {
    return Arrays.stream(values())
        .flatMap(one -> one.names.stream())
        .sorted()
        .collect(Collectors.joining(", "));
  }

  /** Whether a word that is a token as it stands is that token, whatever the merges would give. */
  boolean prefersWholeWords() {
    return this == LLAMA3;
  }

  /** The words, which joined are the text. */
  List<String> split(String text) {
    Ids ends = new Ids();
    ends.add(text.length());
    for (Pattern pattern : patterns) {
      ends = split(pattern.matcher(text), ends);
    }
    List<String> words = new ArrayList<>(ends.size());
    int from = 0;
    for (int i = 0; i < ends.size(); i++) {
      words.add(text.substring(from, ends.get(i)));
      from = ends.get(i);
    }
    return words;
  }

  private static Ids split(Matcher matcher, Ids pieces) {
    Ids ends = new Ids();
    int from = 0;
    for (int i = 0; i < pieces.size(); i++) {
      int to = pieces.get(i);
      // A piece is a text of its own: an expression does not look beyond it.
      matcher.region(from, to);
      while (from < to && matcher.find()) {
        if (matcher.start() > from) {
          ends.add(matcher.start());
        }
        ends.add(matcher.end());
        from = matcher.end();
      }
      if (from < to) {
        ends.add(to);
        from = to;
      }
    }
    return ends;
  }
}
