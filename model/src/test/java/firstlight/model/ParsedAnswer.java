package firstlight.model;

import java.util.ArrayList;
import java.util.List;

/** An answer taken apart in a given way of cutting it, and what came out joined. */
final class ParsedAnswer {
  private final List<AnswerPart> parts = new ArrayList<>();

  private ParsedAnswer() {}

  static ParsedAnswer of(AnswerParser parser, List<String> pieces) {
    ParsedAnswer parsed = new ParsedAnswer();
    for (String piece : pieces) {
      parser.next(piece).forEach(parsed::add);
    }
    parser.end().forEach(parsed::add);
    return parsed;
  }

  /** What is there already before the end. */
  static ParsedAnswer soFar(AnswerParser parser, String text) {
    ParsedAnswer parsed = new ParsedAnswer();
    parser.next(text).forEach(parsed::add);
    return parsed;
  }

  List<AnswerPart> parts() {
    return parts;
  }

  private void add(AnswerPart part) {
    AnswerPart last = parts.isEmpty() ? null : parts.getLast();
    AnswerPart joined =
        switch (part) {
          case AnswerPart.Text(String more) when last instanceof AnswerPart.Text(String text) ->
              new AnswerPart.Text(text + more);
          case AnswerPart.Reasoning(String more)
              when last instanceof AnswerPart.Reasoning(String text) ->
              new AnswerPart.Reasoning(text + more);
          case AnswerPart.Arguments(String more)
              when last instanceof AnswerPart.Arguments(String json) ->
              new AnswerPart.Arguments(json + more);
          default -> part;
        };
    if (joined != part) {
      parts.removeLast();
    }
    parts.add(joined);
  }

  /**
   * As text: {@code T[…]} text, {@code R[…]} reasoning, {@code C[…]} call, {@code A[…]} arguments.
   */
  @Override
  public String toString() {
    StringBuilder shown = new StringBuilder();
    for (AnswerPart part : parts) {
      shown.append(
          switch (part) {
            case AnswerPart.Text(String text) -> "T[" + text + "]";
            case AnswerPart.Reasoning(String text) -> "R[" + text + "]";
            case AnswerPart.Call(String name) -> "C[" + name + "]";
            case AnswerPart.Arguments(String json) -> "A[" + json + "]";
          });
    }
    return shown.toString();
  }
}
