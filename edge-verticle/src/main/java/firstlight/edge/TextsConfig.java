package firstlight.edge;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import firstlight.protocol.Settings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What happens to text before it leaves the edge for the data lake.
 *
 * @param hashKey secret with which text is digested where a tenant has it hashed; empty: the
 *     tenant's name takes its place, and who knows that can try short texts
 * @param redact what is looked for and taken out
 * @param patterns more of that, by name, in the syntax of RE2, whose time is linear in the text
 */
public record TextsConfig(String hashKey, List<Redaction> redact, Map<String, Pattern> patterns) {
  private static final int PATTERNS_MAX = 64;
  private static final int PATTERN_CHARACTERS_MAX = 1_000;

  /** What can be taken out without a pattern of one's own. */
  public enum Redaction {
    /** Keys of well-known services, JSON web tokens, private keys. */
    SECRET,
    /** Numbers of 13 to 19 digits with the check digit of payment cards. */
    CARD,
    EMAIL
  }

  public TextsConfig {
    redact = List.copyOf(redact);
    patterns = Map.copyOf(patterns);
  }

  /** Reads the section; mistakes are noted in its problems. */
  static TextsConfig read(Settings settings) {
    TextsConfig config =
        new TextsConfig(settings.secret("hashKey", ""), redactions(settings), patterns(settings));
    settings.done();
    return config;
  }

  private static List<Redaction> redactions(Settings settings) {
    List<Redaction> found = new ArrayList<>();
    for (String word : settings.texts("redact", List.of("secret", "card"))) {
      Arrays.stream(Redaction.values())
          .filter(one -> one.name().equalsIgnoreCase(word.trim()))
          .findFirst()
          .ifPresentOrElse(
              found::add,
              () ->
                  settings
                      .problems()
                      .add("edge.texts.redact: %s is none of secret, card, email".formatted(word)));
    }
    return found;
  }

  private static Map<String, Pattern> patterns(Settings settings) {
    Map<String, Pattern> patterns = new LinkedHashMap<>();
    settings
        .texts("patterns", List.of())
        .forEach(
            entry -> {
              int equals = entry.indexOf('=');
              String name = equals < 0 ? "" : entry.substring(0, equals).trim();
              String pattern = entry.substring(equals + 1);
              if (!name.matches("[a-z0-9_-]{1,32}") || pattern.length() > PATTERN_CHARACTERS_MAX) {
                settings
                    .problems()
                    .add("edge.texts.patterns: an entry is name=pattern, such as id=EMP-[0-9]{6}");
                return;
              }
              try {
                patterns.put(name, Pattern.compile(pattern));
              } catch (PatternSyntaxException e) {
                settings
                    .problems()
                    .add("edge.texts.patterns: %s: %s".formatted(name, e.getDescription()));
              }
            });
    settings
        .problems()
        .require(
            patterns.size() <= PATTERNS_MAX,
            "edge.texts.patterns must have at most %d entries".formatted(PATTERNS_MAX));
    return patterns;
  }
}
