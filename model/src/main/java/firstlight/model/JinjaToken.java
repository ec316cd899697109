package firstlight.model;

/**
 * A piece of a template.
 *
 * @param line where it stands, counted from 1
 */
record JinjaToken(Kind kind, String text, int line) {
  enum Kind {
    DATA,
    PRINT_BEGIN,
    PRINT_END,
    TAG_BEGIN,
    TAG_END,
    NAME,
    STRING,
    INTEGER,
    FLOAT,
    OPERATOR,
    END
  }

  boolean is(Kind kind, String text) {
    return this.kind == kind && this.text.equals(text);
  }
}
