package firstlight.model;

import java.util.ArrayList;
import java.util.List;

/** Collects the parts of a piece of an answer, pieces of the same kind as one. */
final class AnswerParts {
  private final List<AnswerPart> parts = new ArrayList<>();
  private final StringBuilder open = new StringBuilder();
  private Kind kind = Kind.TEXT;

  private enum Kind {
    TEXT,
    REASONING,
    ARGUMENTS
  }

  void text(CharSequence text) {
    add(Kind.TEXT, text);
  }

  void reasoning(CharSequence text) {
    add(Kind.REASONING, text);
  }

  void arguments(CharSequence json) {
    add(Kind.ARGUMENTS, json);
  }

  void call(String name) {
    close();
    parts.add(new AnswerPart.Call(name));
  }

  /** What has come since the last time. */
  List<AnswerPart> take() {
    close();
    List<AnswerPart> taken = List.copyOf(parts);
    parts.clear();
    return taken;
  }

  private void add(Kind of, CharSequence text) {
    if (kind != of) {
      close();
      kind = of;
    }
    open.append(text);
  }

  private void close() {
    if (!open.isEmpty()) {
      String text = open.toString();
      parts.add(
          switch (kind) {
            case TEXT -> new AnswerPart.Text(text);
            case REASONING -> new AnswerPart.Reasoning(text);
            case ARGUMENTS -> new AnswerPart.Arguments(text);
          });
      open.setLength(0);
    }
  }
}
