package firstlight.protocol;

/** Anything sent over the event bus. The family says who receives it. */
public sealed interface MeshMessage permits ToDevice, FromDevice, ToSession, FromSession, ToEdge {}
