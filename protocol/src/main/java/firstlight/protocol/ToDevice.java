package firstlight.protocol;

/** Received by a gpu verticle. */
public sealed interface ToDevice extends MeshMessage permits ClaimDevice, RunStep {}
