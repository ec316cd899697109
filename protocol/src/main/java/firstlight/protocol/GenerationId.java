package firstlight.protocol;

/** One run of a model on a prompt. */
public record GenerationId(String value) {
  public GenerationId {
    Identifiers.check("GenerationId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
