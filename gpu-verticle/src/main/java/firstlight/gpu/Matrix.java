package firstlight.gpu;

import java.util.Set;

/**
 * Weights, packed for this machine's vectors. Rows are taken in groups of as many as a vector has
 * lanes, one row a lane, so that nothing is ever added across lanes: a row's result is the same sum
 * in the same order, whatever the number of tokens, the share of a thread or the vector width.
 */
sealed interface Matrix permits FloatMatrix, QuantisedMatrix {
  /** Outputs. */
  int rows();

  /** Inputs. */
  int columns();

  /** Floats between one token's outputs and the next one's: the rows, rounded up. */
  int stride();

  /**
   * Multiplies the first {@code tokens} rows of the input by this share of the weights' rows.
   *
   * @param out {@code [token][stride]}
   */
  void multiply(Activations in, int tokens, float[] out, Share share);

  /** In which forms the bytes of the input are needed; in none where its floats are. */
  Set<Activations.Form> forms();

  /** Decodes one row to floats. */
  void row(int row, float[] into, int at);
}
