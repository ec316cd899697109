package firstlight.gpu;

/** How much of a GPU's memory a device may have for keys and values. */
interface KvShare {
  /** Of a device that has the GPU for itself. */
  KvShare WHOLE = free -> (long) (free * CudaConfig.KV_SHARE);

  /**
   * Bytes for keys and values.
   *
   * @param free what is free once all else of the device is there
   */
  long of(long free);

  /** The device is open and has its share. */
  default void taken() {}

  /** The device is closed and has given its share back. */
  default void left() {}
}
