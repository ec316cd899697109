package firstlight.model;

import java.util.function.Supplier;

/** Reads one or several calls: alone, in a list, one after another. */
final class CallsReader implements CallReader {
  private final Supplier<OneCall> calls;
  private final Shape shape;
  private OneCall call;
  private At at = At.BEGIN;
  private boolean inList;
  private int closed;

  private enum At {
    BEGIN,
    IN_CALL,
    BETWEEN,
    CLOSING
  }

  /**
   * How calls are put together.
   *
   * @param list whether there may be a list of them
   * @param single whether one may stand without a list
   * @param separators what may stand between calls without a list; empty: there is only one
   * @param closing what stands at the end; empty: nothing
   */
  record Shape(boolean list, boolean single, String separators, String closing) {}

  CallsReader(Shape shape, Supplier<OneCall> calls) {
    this.shape = shape;
    this.calls = calls;
    this.call = calls.get();
  }

  @Override
  public boolean isClosing() {
    return at != At.IN_CALL;
  }

  @Override
  public Progress next(char c, Sink sink) {
    if (at == At.IN_CALL) {
      return inCall(c, sink);
    }
    if (ValueScanner.isBlank(c) && closed == 0) {
      return Progress.TAKEN;
    }
    return switch (at) {
      case BEGIN -> begin(c, sink);
      case BETWEEN -> inList ? inList(c, sink) : between(c, sink);
      default -> closing(c);
    };
  }

  private Progress begin(char c, Sink sink) {
    if (c == '[' && shape.list && !inList) {
      inList = true;
      return Progress.TAKEN;
    }
    return inList || shape.single ? inCall(c, sink) : Progress.REFUSED;
  }

  private Progress inCall(char c, Sink sink) {
    at = At.IN_CALL;
    if (!call.next(c, sink)) {
      return Progress.REFUSED;
    }
    if (call.isOver()) {
      call = calls.get();
      at = inList || !shape.separators.isEmpty() ? At.BETWEEN : At.CLOSING;
    }
    return Progress.TAKEN;
  }

  private Progress inList(char c, Sink sink) {
    if (c == ',') {
      at = At.BEGIN;
      return Progress.TAKEN;
    }
    if (c != ']') {
      return Progress.REFUSED;
    }
    sink.taken();
    at = At.CLOSING;
    return shape.closing.isEmpty() ? Progress.OVER : Progress.TAKEN;
  }

  private Progress between(char c, Sink sink) {
    if (shape.separators.indexOf(c) >= 0) {
      return Progress.TAKEN;
    }
    if (!shape.closing.isEmpty() && c == shape.closing.charAt(0)) {
      at = At.CLOSING;
      return closing(c);
    }
    return inCall(c, sink);
  }

  private Progress closing(char c) {
    if (shape.closing.charAt(closed) != c) {
      return Progress.REFUSED;
    }
    return ++closed == shape.closing.length() ? Progress.OVER : Progress.TAKEN;
  }
}
