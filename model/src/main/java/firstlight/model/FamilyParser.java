package firstlight.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Takes answers apart in which calls are written in a {@link CallNotation}, and reasoning between
 * its markers. It goes by single characters and looks only at those before, so that it makes no
 * difference how a text is cut.
 *
 * <p>Held back is what may be the beginning of a marker, a call up to its arguments, and blanks of
 * which it is open whether text comes after them: those before a call, around reasoning and after a
 * call belong to no part. A call begins with its arguments; what is wrong before is text with all
 * that was held back, what is wrong within them is text from there on.
 */
final class FamilyParser implements AnswerParser {
  static final String THINK = "<think>";
  static final String THOUGHT = "</think>";

  private final @Nullable CallNotation notation;
  private final boolean reasons;
  private final AnswerParts parts = new AnswerParts();
  private final StringBuilder blanks = new StringBuilder();
  private final StringBuilder held = new StringBuilder();
  private final CallReader.Sink sink = new Committed();
  private @Nullable CallReader reader;
  private boolean called;
  private boolean thinking;
  private At at;
  private At before = At.TEXT;

  private enum At {
    /** Nothing came yet but blanks. */
    BEGINNING,
    /** After reasoning: as at the beginning, but blanks are nothing. */
    AFTER_REASONING,
    REASONING,
    AFTER_CALL,
    TEXT,
    CALL
  }

  /**
   * @param notation null: calls are not looked for
   * @param reasons whether reasoning is looked for at the beginning
   * @param reasoning whether the prompt has opened it
   */
  FamilyParser(@Nullable CallNotation notation, boolean reasons, boolean reasoning) {
    this.notation = notation;
    this.reasons = reasons;
    this.at = reasoning ? At.REASONING : At.BEGINNING;
  }

  @Override
  public List<AnswerPart> next(String text) {
    for (int i = 0; i < text.length(); i++) {
      step(text.charAt(i));
    }
    return parts.take();
  }

  @Override
  public List<AnswerPart> end() {
    if (at == At.REASONING) {
      if (!held.isEmpty()) {
        flushReasoning();
      }
    } else if (at == At.CALL) {
      if (!called || !reader().isClosing()) {
        refuse();
      }
    } else {
      flushText();
    }
    return parts.take();
  }

  private void step(char c) {
    switch (at) {
      case CALL -> call(c);
      case REASONING -> reasoning(c);
      default -> text(c);
    }
  }

  private void reasoning(char c) {
    if (ValueScanner.isBlank(c)) {
      if (!held.isEmpty()) {
        flushReasoning();
      }
      blanks.append(c);
      return;
    }
    held.append(c);
    while (!held.isEmpty() && !THOUGHT.startsWith(held.toString())) {
      char first = held.charAt(0);
      held.deleteCharAt(0);
      thought(String.valueOf(first));
    }
    if (held.length() == THOUGHT.length()) {
      held.setLength(0);
      blanks.setLength(0);
      at = At.AFTER_REASONING;
    }
  }

  private void flushReasoning() {
    thought(held);
    held.setLength(0);
  }

  /** Blanks before are part of it only between its words. */
  private void thought(CharSequence text) {
    if (thinking) {
      parts.reasoning(blanks);
    }
    thinking = true;
    blanks.setLength(0);
    parts.reasoning(text);
  }

  private void text(char c) {
    if (ValueScanner.isBlank(c)) {
      blank(c);
      return;
    }
    held.append(c);
    while (!held.isEmpty() && !mayBeMarker() && !bare()) {
      String first = held.substring(0, 1);
      held.deleteCharAt(0);
      textBegins();
      parts.text(first);
    }
    if (at != At.CALL) {
      marker();
    }
  }

  private void blank(char c) {
    if (!held.isEmpty() && !bare()) {
      flushText();
    }
    if (at == At.CALL) {
      call(c);
    } else if (at == At.TEXT) {
      parts.text(String.valueOf(c));
    } else {
      blanks.append(c);
    }
  }

  private void textBegins() {
    if (at == At.BEGINNING) {
      parts.text(blanks);
    }
    blanks.setLength(0);
    at = At.TEXT;
  }

  private void flushText() {
    if (!held.isEmpty() || at == At.BEGINNING) {
      textBegins();
      parts.text(held);
      held.setLength(0);
    }
  }

  private boolean mayBeMarker() {
    String text = held.toString();
    boolean think = reasons && at == At.BEGINNING && THINK.startsWith(text);
    return think
        || notation != null
            && notation.markers().stream().anyMatch(marker -> marker.startsWith(text));
  }

  private void marker() {
    String text = held.toString();
    if (text.equals(THINK) && at == At.BEGINNING && reasons) {
      held.setLength(0);
      blanks.setLength(0);
      at = At.REASONING;
    } else if (notation != null && notation.markers().contains(text)) {
      begin(notation.reader());
    }
  }

  /** Whether what is held back begins a call without a marker; then it is gone on with there. */
  private boolean bare() {
    if (notation == null || at != At.BEGINNING && at != At.AFTER_REASONING) {
      return false;
    }
    CallReader bare = notation.bareReader();
    if (bare == null || !notation.bareStart().contains(held.charAt(0))) {
      return false;
    }
    String begun = held.toString();
    held.setLength(0);
    begin(bare);
    for (int i = 0; i < begun.length(); i++) {
      step(begun.charAt(i));
    }
    return true;
  }

  private void begin(CallReader next) {
    reader = next;
    called = false;
    before = at;
    at = At.CALL;
  }

  private void call(char c) {
    held.append(c);
    switch (reader().next(c, sink)) {
      case TAKEN -> {}
      case OVER -> {
        held.setLength(0);
        at = At.AFTER_CALL;
      }
      case REFUSED -> {
        held.setLength(Math.max(0, held.length() - 1));
        refuse();
        step(c);
      }
    }
  }

  private CallReader reader() {
    if (reader == null) {
      throw new IllegalStateException("no call is being read");
    }
    return reader;
  }

  /** What is held back is no call after all. */
  private void refuse() {
    at = called ? At.AFTER_CALL : before;
    String text = called ? held.toString().stripLeading() : held.toString();
    held.setLength(0);
    if (!text.isEmpty()) {
      textBegins();
      parts.text(text);
    }
  }

  private final class Committed implements CallReader.Sink {
    @Override
    public void call(String name) {
      parts.call(name);
      called = true;
      taken();
    }

    @Override
    public void arguments(CharSequence json) {
      parts.arguments(json);
      held.setLength(0);
    }

    @Override
    public void taken() {
      held.setLength(0);
      blanks.setLength(0);
    }
  }
}
