package firstlight.protocol;

/**
 * A replica tells every edge that it is there and how busy it is, several times a second and at
 * every change. One that has not been heard of for a while is not used.
 *
 * @param port where its gRPC service listens on {@code host}
 * @param waiting Sequences not yet running
 * @param running Sequences in the running set
 * @param outstandingTokens tokens still to be computed for all of them: prompts and reserved
 *     outputs
 * @param draining takes no new work
 */
public record ReplicaReport(
    ReplicaId replica,
    NodeId node,
    String host,
    int port,
    DeviceCapacity capacity,
    int waiting,
    int running,
    int blocksFree,
    long outstandingTokens,
    boolean draining)
    implements ToEdge {}
