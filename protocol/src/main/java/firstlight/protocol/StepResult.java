package firstlight.protocol;

import java.util.List;

/**
 * What a Step brought.
 *
 * @param slices in the order of the Step's Slices
 * @param nanos how long the device worked on it
 */
public record StepResult(long step, List<SliceResult> slices, long nanos) implements FromDevice {
  public StepResult {
    slices = List.copyOf(slices);
  }
}
