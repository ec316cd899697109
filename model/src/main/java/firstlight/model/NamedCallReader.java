package firstlight.model;

/**
 * Reads a call whose name stands before its arguments: {@code name[ARGS]{…}}, also {@code
 * name[CALL_ID]id[ARGS]{…}} and {@code name{…}}.
 */
final class NamedCallReader implements CallReader {
  private static final int NAME_MAX = 256;
  private static final String ARGUMENTS = "[ARGS]";
  private static final String ID = "[CALL_ID]";

  private final StringBuilder name = new StringBuilder();
  private final StringBuilder marker = new StringBuilder();
  private final StringBuilder json = new StringBuilder();
  private final ValueScanner scanner = new ValueScanner(false);
  private At at = At.NAME;

  private enum At {
    NAME,
    MARKER,
    ID,
    BEFORE,
    ARGUMENTS
  }

  @Override
  public boolean isClosing() {
    return false;
  }

  @Override
  public Progress next(char c, Sink sink) {
    return switch (at) {
      case NAME -> name(c, sink);
      case MARKER -> marker(c);
      case ID -> c == '[' ? marker(c) : taken(isNameCharacter(c));
      case BEFORE -> ValueScanner.isBlank(c) ? Progress.TAKEN : begin(c, sink);
      case ARGUMENTS -> arguments(c, sink);
    };
  }

  static boolean isNameCharacter(char c) {
    return c >= 'a' && c <= 'z'
        || c >= 'A' && c <= 'Z'
        || c >= '0' && c <= '9'
        || c == '_'
        || c == '-'
        || c == '.';
  }

  private static Progress taken(boolean belongs) {
    return belongs ? Progress.TAKEN : Progress.REFUSED;
  }

  private Progress name(char c, Sink sink) {
    if (isNameCharacter(c)) {
      name.append(c);
      return taken(name.length() <= NAME_MAX);
    }
    if (name.isEmpty()) {
      return taken(ValueScanner.isBlank(c));
    }
    return c == '[' ? marker(c) : begin(c, sink);
  }

  private Progress marker(char c) {
    at = At.MARKER;
    marker.append(c);
    String text = marker.toString();
    if (text.equals(ARGUMENTS)) {
      at = At.BEFORE;
    } else if (text.equals(ID)) {
      at = At.ID;
      marker.setLength(0);
    }
    return taken(ARGUMENTS.startsWith(text) || ID.startsWith(text));
  }

  private Progress begin(char c, Sink sink) {
    if (c != '{') {
      return Progress.REFUSED;
    }
    at = At.ARGUMENTS;
    sink.call(name.toString());
    return arguments(c, sink);
  }

  private Progress arguments(char c, Sink sink) {
    if (!scanner.next(c, json)) {
      return Progress.REFUSED;
    }
    sink.arguments(json);
    json.setLength(0);
    return scanner.isOver() ? Progress.OVER : Progress.TAKEN;
  }
}
