package firstlight.model;

import java.util.Optional;

/** How fast each pair of a head's elements rotates with the position. */
final class RopeFrequencies {
  /** A tensor of divisors, as converters write it for Llama 3. */
  static final String FACTORS = "rope_freqs.weight";

  private RopeFrequencies() {}

  /** Radians per position of a layer's pairs. The tensor goes before the metadata. */
  static float[] of(ModelFile file, int layer) {
    Hyperparameters model = file.hyperparameters();
    boolean local = model.isLocal(layer);
    double base = local ? model.ropeBaseLocal() : model.ropeBase();
    double scale = local ? 1 : model.ropeScale();
    Optional<Tensor> factors = local ? Optional.empty() : file.find(FACTORS);
    float[] divisors = new float[model.ropeDimensions() / 2];
    factors.ifPresent(tensor -> tensor.dequantize(0, divisors, 0));
    float[] frequencies = new float[divisors.length];
    for (int i = 0; i < frequencies.length; i++) {
      double frequency = Math.pow(base, -2.0 * i / model.ropeDimensions());
      double divisor =
          factors.isPresent()
              ? divisors[i]
              : model.ropeScaling().map(scaling -> (double) scaling.divisor(frequency)).orElse(1.0);
      frequencies[i] = (float) (frequency * scale / divisor);
    }
    return frequencies;
  }
}
