package firstlight.protocol;

/** One JVM of the mesh. */
public record NodeId(String value) {
  public NodeId {
    Identifiers.check("NodeId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
