package firstlight.protocol;

/**
 * One fact for the data lake. {@code events.proto} says field by field what becomes of it; {@link
 * EventWire} writes it so.
 *
 * @param id the same for every repeat of the same fact, on whatever node: see {@link #idOf}
 * @param time when it happened: Unix time, ms
 * @param node that tells of it
 * @param session what belongs together and stays in order: the conversation, else the first
 *     Response of the chain, else the Response
 */
public record Event(
    String id, long time, TenantId tenant, NodeId node, String session, EventBody body) {
  /** The schema that is written here; see {@code events.proto}. */
  public static final int SCHEMA = 2;

  private static final int ID_DIGITS = 32;

  /**
   * @param kind a word for the kind of fact
   * @param fact the fact's own id, unique for its kind and tenant; without line ends
   */
  public static String idOf(TenantId tenant, String kind, String fact) {
    String whole = String.join("\n", tenant.value(), kind, fact);
    return "ev_" + Sha256.hex(whole).substring(0, ID_DIGITS);
  }
}
