package firstlight.model;

/**
 * Llama 3's way to stretch the context: slow rotations are slowed down by {@code factor}, fast ones
 * stay, those between are blended.
 *
 * @param lowFrequency a rotation with fewer turns than this in the original context is slow
 * @param highFrequency one with more turns than this is fast
 * @param originalContext positions the model was first trained for
 */
public record RopeScaling(
    float factor, float lowFrequency, float highFrequency, int originalContext) {

  /** What to divide a rotation's frequency (radians per position) by. */
  float divisor(double frequency) {
    double turns = originalContext * frequency / (2 * Math.PI);
    if (turns < lowFrequency) {
      return factor;
    }
    if (turns > highFrequency) {
      return 1;
    }
    double smooth = (turns - lowFrequency) / (highFrequency - lowFrequency);
    return (float) (1 / ((1 - smooth) / factor + smooth));
  }
}
