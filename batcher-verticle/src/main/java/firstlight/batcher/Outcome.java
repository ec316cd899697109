package firstlight.batcher;

import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.MeshException;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Usage;
import java.util.List;

/** What the scheduler has to tell about a generation. {@link Ended} or {@link Refused} is last. */
sealed interface Outcome {
  GenerationId generation();

  /**
   * New tokens.
   *
   * @param text bytes of text that go out with them
   * @param position of the first of them in the output, known tokens included
   * @param first nothing was emitted before; only then do the last two mean anything
   * @param cached prompt tokens that were found in the prefix cache
   * @param queuedMillis time in the waiting queue
   */
  record Emitted(
      GenerationId generation,
      List<SampledToken> tokens,
      byte[] text,
      int position,
      boolean first,
      int cached,
      long queuedMillis)
      implements Outcome {}

  /**
   * @param stop the stop string that ended it, or empty
   */
  record Ended(GenerationId generation, FinishReason reason, Usage usage, byte[] stop)
      implements Outcome {}

  /** It was not admitted, or it failed. */
  record Refused(GenerationId generation, MeshException failure) implements Outcome {}
}
