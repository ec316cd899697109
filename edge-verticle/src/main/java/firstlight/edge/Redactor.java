package firstlight.edge;

import java.util.ArrayList;
import java.util.List;

/** Takes out of texts what must not leave the edge. For one thread: it counts. */
final class Redactor {
  private final List<Rule> rules = new ArrayList<>();
  private int count;

  private record Rule(String name, Findings findings) {}

  Redactor(TextsConfig config) {
    for (TextsConfig.Redaction each : config.redact()) {
      switch (each) {
        case SECRET -> Findings.SECRETS.forEach(one -> rules.add(new Rule("secret", one)));
        case CARD -> rules.add(new Rule("card", new Findings.Cards()));
        case EMAIL -> rules.add(new Rule("email", new Findings.Emails()));
      }
    }
    config
        .patterns()
        .forEach((name, pattern) -> rules.add(new Rule(name, new Findings.Written(pattern))));
  }

  /** The text with {@code [redacted:name]} in each place that had to go. */
  String redact(String text) {
    String redacted = text;
    for (Rule rule : rules) {
      redacted = redact(redacted, rule);
    }
    return redacted;
  }

  /** How many places were taken out since the last time. */
  int take() {
    int taken = count;
    count = 0;
    return taken;
  }

  private String redact(String text, Rule rule) {
    Findings.Place place = rule.findings().next(text, 0);
    if (place.equals(Findings.NONE)) {
      return text;
    }
    StringBuilder out = new StringBuilder(text.length());
    int from = 0;
    while (!place.equals(Findings.NONE)) {
      out.append(text, from, place.start()).append("[redacted:").append(rule.name()).append(']');
      from = place.end();
      count++;
      place = rule.findings().next(text, from);
    }
    return out.append(text, from, text.length()).toString();
  }
}
