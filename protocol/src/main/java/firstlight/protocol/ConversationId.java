package firstlight.protocol;

/** What a client adds Items to and can find again. */
public record ConversationId(String value) {
  public ConversationId {
    Identifiers.check("ConversationId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
