package firstlight.protocol;

/** Published to every edge. */
public sealed interface ToEdge extends MeshMessage permits ReplicaReport {}
