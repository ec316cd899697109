package firstlight.protocol;

/**
 * One GPU, or the CPU: the only thing between scheduling and hardware. A device keeps no memory of
 * Sequences, only of weights and KV Blocks, so whatever it needs to know stands in the Step.
 *
 * <p>It is used by one thread at a time.
 */
public interface Device extends AutoCloseable {

  DeviceCapacity capacity();

  /**
   * Runs one forward pass. For each Slice the keys and values of its tokens are written to the
   * positions that its block table names, and its last {@link Slice#sampled()} positions are
   * sampled.
   *
   * @throws MeshException of kind {@link FailureKind#DEVICE_LOST} when the device can not go on
   */
  StepResult run(RunStep step);

  /**
   * Looks whether the device still works. Between Steps, and quick: what it shares with others may
   * have been broken by them.
   *
   * @throws MeshException of kind {@link FailureKind#DEVICE_LOST} when it does not
   */
  default void check() {}

  @Override
  void close();
}
