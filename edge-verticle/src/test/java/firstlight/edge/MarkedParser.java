package firstlight.edge;

import firstlight.model.AnswerParser;
import firstlight.model.AnswerPart;
import java.util.ArrayList;
import java.util.List;

/**
 * Knows reasoning in brackets and calls in angles: {@code [hm]text<name|arguments>}. A call's name
 * comes when it is whole.
 */
final class MarkedParser implements AnswerParser {
  private enum In {
    TEXT,
    REASONING,
    NAME,
    ARGUMENTS
  }

  private final StringBuilder held = new StringBuilder();
  private In in = In.TEXT;

  @Override
  public List<AnswerPart> next(String text) {
    List<AnswerPart> parts = new ArrayList<>();
    for (char c : text.toCharArray()) {
      In next = after(c);
      if (next == in) {
        held.append(c);
      } else {
        flush(parts, next == In.ARGUMENTS);
        in = next;
      }
    }
    flush(parts, false);
    return parts;
  }

  @Override
  public List<AnswerPart> end() {
    return in == In.NAME ? List.of(new AnswerPart.Text("<" + held)) : List.of();
  }

  private In after(char c) {
    return switch (in) {
      case TEXT -> c == '[' ? In.REASONING : c == '<' ? In.NAME : In.TEXT;
      case REASONING -> c == ']' ? In.TEXT : In.REASONING;
      case NAME -> c == '|' ? In.ARGUMENTS : In.NAME;
      case ARGUMENTS -> c == '>' ? In.TEXT : In.ARGUMENTS;
    };
  }

  private void flush(List<AnswerPart> parts, boolean named) {
    if (in == In.NAME && !named || held.isEmpty()) {
      return;
    }
    String text = held.toString();
    held.setLength(0);
    parts.add(
        switch (in) {
          case TEXT -> new AnswerPart.Text(text);
          case REASONING -> new AnswerPart.Reasoning(text);
          case NAME -> new AnswerPart.Call(text);
          case ARGUMENTS -> new AnswerPart.Arguments(text);
        });
  }
}
