package firstlight.protocol;

/** What a client asked for and can find again. */
public record ResponseId(String value) {
  public ResponseId {
    Identifiers.check("ResponseId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
