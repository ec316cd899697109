package firstlight.model;

import org.jspecify.annotations.Nullable;

/**
 * Reads one call as a JSON object: {@code {"name": …, "arguments": {…}}}. Its pairs come in any
 * order, others than these two are passed over. A call begins with the arguments, once the name is
 * known.
 */
final class JsonCall implements OneCall {
  private final boolean argumentsNeeded;
  private final StringBuilder text = new StringBuilder();
  private ValueScanner scanner = new ValueScanner(false);
  private At at = At.OPEN;
  private String key = "";
  private @Nullable String name;
  private @Nullable String early;
  private boolean called;

  private enum At {
    OPEN,
    FIRST_KEY,
    KEY,
    IN_KEY,
    COLON,
    VALUE,
    IN_VALUE,
    NEXT,
    OVER
  }

  /**
   * @param argumentsNeeded whether an object without arguments is no call
   */
  JsonCall(boolean argumentsNeeded) {
    this.argumentsNeeded = argumentsNeeded;
  }

  @Override
  public boolean isOver() {
    return at == At.OVER;
  }

  @Override
  public boolean next(char c, CallReader.Sink sink) {
    if (at == At.IN_KEY) {
      return key(c);
    }
    if (at == At.IN_VALUE) {
      return value(c, sink);
    }
    if (ValueScanner.isBlank(c)) {
      return true;
    }
    return switch (at) {
      case OPEN -> c == '{' && go(At.FIRST_KEY);
      case FIRST_KEY, KEY -> c == '"' && begin(At.IN_KEY) && key(c);
      case COLON -> c == ':' && go(At.VALUE);
      case VALUE -> mayBegin(c, sink) && begin(At.IN_VALUE) && value(c, sink);
      case NEXT -> c == ',' ? go(At.KEY) : c == '}' && end(sink);
      default -> false;
    };
  }

  private boolean go(At then) {
    at = then;
    return true;
  }

  private boolean begin(At then) {
    text.setLength(0);
    scanner = new ValueScanner(false);
    return go(then);
  }

  private boolean key(char c) {
    boolean taken = scanner.next(c, text);
    if (scanner.isOver()) {
      key = unescaped(text);
      at = At.COLON;
    }
    return taken;
  }

  private boolean isName() {
    return key.equals("name") && name == null;
  }

  private boolean isArguments() {
    return key.equals("arguments") || key.equals("parameters");
  }

  private boolean mayBegin(char c, CallReader.Sink sink) {
    if (isName()) {
      return c == '"';
    }
    if (!isArguments()) {
      return true;
    }
    if (c != '{' || called || early != null) {
      return false;
    }
    if (name != null) {
      called = true;
      sink.call(name);
    }
    return true;
  }

  private boolean value(char c, CallReader.Sink sink) {
    boolean taken = scanner.next(c, text);
    if (taken && isArguments() && called) {
      sink.arguments(text);
      text.setLength(0);
    }
    if (!scanner.isOver()) {
      return taken;
    }
    at = At.NEXT;
    if (isArguments() && !called) {
      early = text.toString();
    } else if (isName()) {
      name = unescaped(text);
      return taken && !name.isBlank();
    }
    return taken || next(c, sink);
  }

  private boolean end(CallReader.Sink sink) {
    if (name == null || !called && early == null && argumentsNeeded) {
      return false;
    }
    if (!called) {
      sink.call(name);
      sink.arguments(early == null ? "{}" : early);
    }
    sink.taken();
    return go(At.OVER);
  }

  /** What a JSON string says, with its quotes. */
  private static String unescaped(CharSequence string) {
    StringBuilder plain = new StringBuilder();
    for (int i = 1; i < string.length() - 1; i++) {
      char c = string.charAt(i);
      if (c == '\\') {
        c = string.charAt(++i);
        int known = "bfnrt".indexOf(c);
        if (known >= 0) {
          c = "\b\f\n\r\t".charAt(known);
        } else if (c == 'u') {
          c = (char) Integer.parseInt(string, i + 1, i + 5, 16);
          i += 4;
        }
      }
      plain.append(c);
    }
    return plain.toString();
  }
}
