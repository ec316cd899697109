package firstlight.gpu;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The vector width of this machine, chosen once at start. These are constants, because only then
 * does the compiler turn vector operations into single instructions.
 */
final class Lanes {
  static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;

  /** Floats in a vector; also rows in a group of a packed matrix. */
  static final int COUNT = FLOATS.length();

  /** Rows in two groups: what quantised kernels work on at once. */
  static final int PAIR = 2 * COUNT;

  private Lanes() {}

  static int groups(int rows) {
    return (rows + COUNT - 1) / COUNT;
  }

  static int pairs(int rows) {
    return (rows + PAIR - 1) / PAIR;
  }
}
