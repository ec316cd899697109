package firstlight.lake;

/**
 * What one upkeep has done.
 *
 * @param snapshots that were ended
 * @param objects files and metadata that were deleted because no snapshot needs them any more
 * @param failures steps that have failed, each of a table; the next run tries them again
 */
public record UpkeepReport(Merging merging, int snapshots, long objects, int failures) {
  static final UpkeepReport NOTHING = new UpkeepReport(Merging.NOTHING, 0, 0, 0);
  static final UpkeepReport FAILURE = new UpkeepReport(Merging.NOTHING, 0, 0, 1);

  UpkeepReport plus(UpkeepReport other) {
    return new UpkeepReport(
        merging.plus(other.merging),
        snapshots + other.snapshots,
        objects + other.objects,
        failures + other.failures);
  }
}
