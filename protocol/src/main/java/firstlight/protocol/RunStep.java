package firstlight.protocol;

import java.util.List;

/**
 * One forward pass over many Sequences. Answered by {@link StepResult}.
 *
 * @param step counts a replica's Steps from 1
 */
public record RunStep(long step, List<Slice> slices) implements ToDevice {
  public RunStep {
    slices = List.copyOf(slices);
    if (slices.isEmpty()) {
      throw new IllegalArgumentException("a Step has at least one Slice");
    }
  }

  /** Tokens over all Slices. */
  public int tokens() {
    return slices.stream().mapToInt(slice -> slice.tokens().length).sum();
  }
}
