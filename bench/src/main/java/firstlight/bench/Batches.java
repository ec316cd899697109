package firstlight.bench;

/**
 * A number of Events that fills whole batches of the sink on every partition, so that none waits
 * for its age.
 *
 * @param events about as many as were wanted
 * @param rowsMax Events of a batch
 */
record Batches(long events, int rowsMax) {
  /**
   * @param mostRows that a batch may have
   */
  static Batches of(long wanted, int mostRows) {
    long perPartition = Math.ceilDiv(Math.max(1, wanted), EventServices.PARTITIONS);
    long batches = Math.ceilDiv(perPartition, mostRows);
    int rows = Math.toIntExact(Math.ceilDiv(perPartition, batches));
    return new Batches(rows * batches * EventServices.PARTITIONS, rows);
  }
}
