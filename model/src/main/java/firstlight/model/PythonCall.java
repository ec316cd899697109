package firstlight.model;

/**
 * Reads a call as Python writes it: {@code name(argument=value, …)}. Values may be Python's or
 * JSON's; the arguments become a JSON object.
 */
final class PythonCall implements OneCall {
  private static final int NAME_MAX = 256;

  private final StringBuilder function = new StringBuilder();
  private final StringBuilder argument = new StringBuilder();
  private final StringBuilder json = new StringBuilder();
  private ValueScanner scanner = new ValueScanner(true);
  private At at = At.FUNCTION;
  private boolean called;

  private enum At {
    FUNCTION,
    AFTER_FUNCTION,
    FIRST_ARGUMENT,
    ARGUMENT,
    AFTER_ARGUMENT,
    BEFORE_VALUE,
    VALUE,
    NEXT,
    OVER
  }

  @Override
  public boolean isOver() {
    return at == At.OVER;
  }

  @Override
  public boolean next(char c, CallReader.Sink sink) {
    if (at == At.VALUE) {
      return value(c, sink);
    }
    if (ValueScanner.isBlank(c)) {
      return blank();
    }
    return switch (at) {
      case FUNCTION -> c == '(' && !function.isEmpty() ? go(At.FIRST_ARGUMENT) : add(c, function);
      case AFTER_FUNCTION -> c == '(' && go(At.FIRST_ARGUMENT);
      case FIRST_ARGUMENT -> c == ')' ? end(sink) : go(At.ARGUMENT) && add(c, argument);
      case ARGUMENT -> c == '=' && !argument.isEmpty() ? name(sink) : add(c, argument);
      case AFTER_ARGUMENT -> c == '=' && name(sink);
      case BEFORE_VALUE -> go(At.VALUE) && value(c, sink);
      case NEXT -> c == ',' ? go(At.ARGUMENT) : c == ')' && end(sink);
      default -> false;
    };
  }

  private boolean go(At then) {
    at = then;
    return true;
  }

  private boolean blank() {
    if (at == At.FUNCTION && !function.isEmpty()) {
      at = At.AFTER_FUNCTION;
    } else if (at == At.ARGUMENT && !argument.isEmpty()) {
      at = At.AFTER_ARGUMENT;
    }
    return true;
  }

  private static boolean add(char c, StringBuilder name) {
    boolean begins = NamedCallReader.isNameCharacter(c) && "-.0123456789".indexOf(c) < 0;
    boolean belongs = name.isEmpty() ? begins : NamedCallReader.isNameCharacter(c);
    name.append(c);
    return belongs && name.length() <= NAME_MAX;
  }

  private boolean name(CallReader.Sink sink) {
    if (!called) {
      sink.call(function.toString());
    }
    sink.arguments((called ? ",\"" : "{\"") + argument + "\":");
    called = true;
    argument.setLength(0);
    scanner = new ValueScanner(true);
    return go(At.BEFORE_VALUE);
  }

  private boolean value(char c, CallReader.Sink sink) {
    boolean taken = scanner.next(c, json);
    if (taken) {
      sink.arguments(json);
      json.setLength(0);
    }
    if (scanner.isOver()) {
      at = At.NEXT;
      return taken || next(c, sink);
    }
    return taken;
  }

  private boolean end(CallReader.Sink sink) {
    if (!called) {
      sink.call(function.toString());
    }
    sink.arguments(called ? "}" : "{}");
    sink.taken();
    return go(At.OVER);
  }
}
