package firstlight.protocol;

/** Answers of a gpu verticle. */
public sealed interface FromDevice extends MeshMessage permits DeviceClaimed, StepResult {}
