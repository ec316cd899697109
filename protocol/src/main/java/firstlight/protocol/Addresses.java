package firstlight.protocol;

/** Where messages go on the event bus. */
public final class Addresses {
  /** Any session verticle. */
  public static final String SESSION = "firstlight.session";

  /** Every edge: {@link ReplicaReport}s. */
  public static final String REPLICAS = "firstlight.replicas";

  private Addresses() {}

  /** A device on that node that has loaded that model. */
  public static String deviceOn(NodeId node, String model) {
    return "firstlight.device." + node + "." + model;
  }

  /** Any device that has loaded that model. */
  public static String deviceOf(String model) {
    return "firstlight.device." + model;
  }
}
