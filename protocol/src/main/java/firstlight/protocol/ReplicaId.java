package firstlight.protocol;

/** One batcher with its devices, serving one model. */
public record ReplicaId(String value) {
  public ReplicaId {
    Identifiers.check("ReplicaId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
