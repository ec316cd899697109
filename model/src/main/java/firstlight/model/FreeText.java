package firstlight.model;

import static firstlight.model.GrammarNode.sequence;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Texts in which none of several markers stands: a rule for each beginning of a marker, that of the
 * longest one with which the text so far ends (Aho and Corasick, 1975).
 */
final class FreeText {
  private static final CharacterSet BLANKS = CharacterSet.of(" \n\t\r");

  private final Map<String, GrammarNode> rules;
  private final String prefix;
  private final List<String> markers;
  private final List<String> beginnings;

  /**
   * @param rules gets its rules
   * @param prefix of their names
   */
  FreeText(Map<String, GrammarNode> rules, String prefix, List<String> markers) {
    this.rules = rules;
    this.prefix = prefix;
    this.markers = markers;
    Set<String> all = new LinkedHashSet<>(List.of(""));
    for (String marker : markers) {
      for (int length = 1; length < marker.length(); length++) {
        all.add(marker.substring(0, length));
      }
    }
    beginnings = List.copyOf(all);
    beginnings.forEach(beginning -> rules.put(name(beginning), rule(beginning)));
  }

  /** Any such text. */
  GrammarNode any() {
    return new GrammarNode.Reference(name(""));
  }

  /** Such texts whose first character after blanks is none of these. */
  GrammarNode notBeginningWith(CharacterSet first) {
    GrammarNode start = new GrammarNode.Reference(prefix + "start");
    List<GrammarNode> options = new ArrayList<>();
    options.add(sequence(new GrammarNode.Character(BLANKS), start));
    ways("").forEach((to, set) -> add(to, set.without(BLANKS.union(first)), options));
    rules.put(prefix + "start", GrammarNode.optional(GrammarNode.choice(options)));
    return start;
  }

  private String name(String beginning) {
    return prefix + beginnings.indexOf(beginning);
  }

  private GrammarNode rule(String beginning) {
    List<GrammarNode> options = new ArrayList<>();
    ways(beginning).forEach((to, set) -> add(to, set, options));
    return GrammarNode.optional(GrammarNode.choice(options));
  }

  private void add(String to, CharacterSet set, List<GrammarNode> options) {
    if (!set.isEmpty()) {
      options.add(sequence(new GrammarNode.Character(set), new GrammarNode.Reference(name(to))));
    }
  }

  /**
   * With which characters a text that ends with a beginning goes on, and with what it then ends.
   */
  private Map<String, CharacterSet> ways(String beginning) {
    Map<String, CharacterSet> ways = new TreeMap<>();
    CharacterSet others = CharacterSet.ALL;
    for (int c : String.join("", markers).codePoints().distinct().toArray()) {
      CharacterSet one = CharacterSet.of(c);
      others = others.without(one);
      String text = beginning + Character.toString(c);
      if (markers.stream().noneMatch(text::endsWith)) {
        ways.merge(longest(text), one, CharacterSet::union);
      }
    }
    ways.merge("", others, CharacterSet::union);
    return ways;
  }

  /** The longest beginning of a marker with which the text ends. */
  private String longest(String text) {
    String end = text;
    while (!beginnings.contains(end)) {
      end = end.substring(1);
    }
    return end;
  }
}
