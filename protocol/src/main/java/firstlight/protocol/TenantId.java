package firstlight.protocol;

/** Who pays. */
public record TenantId(String value) {
  public TenantId {
    Identifiers.check("TenantId", value);
  }

  @Override
  public String toString() {
    return value;
  }
}
