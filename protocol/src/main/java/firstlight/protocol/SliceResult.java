package firstlight.protocol;

import java.util.List;

/**
 * The tokens sampled for one Slice.
 *
 * @param tokens as many as {@link Slice#sampled()}; the first follows position {@code end -
 *     sampled}
 */
public record SliceResult(GenerationId generation, List<SampledToken> tokens) {
  public SliceResult {
    tokens = List.copyOf(tokens);
  }
}
