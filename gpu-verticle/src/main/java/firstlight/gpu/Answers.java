package firstlight.gpu;

import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Slice;
import firstlight.protocol.SliceResult;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads what the sampling kernel wrote: {@code Answer} of {@code sample.cuh}, one a sampled row.
 */
final class Answers {
  private static final long TOP = 2 * Integer.BYTES;
  private static final long TOP_LOGPROBS = TOP + (long) StepLayout.TOP_MAX * Integer.BYTES;

  private Answers() {}

  static List<SliceResult> read(RunStep step, MemorySegment from, int vocabulary) {
    List<SliceResult> results = new ArrayList<>();
    long at = 0;
    for (Slice slice : step.slices()) {
      int top = Math.min(slice.sampling().topLogprobs(), vocabulary);
      List<SampledToken> tokens = new ArrayList<>(slice.sampled());
      for (int i = 0; i < slice.sampled(); i++, at += StepLayout.ANSWER_BYTES) {
        tokens.add(token(from, at, top));
      }
      results.add(new SliceResult(slice.generation(), tokens));
    }
    return results;
  }

  /**
   * @param top how many alternatives there are; -1: no log-probabilities at all
   */
  private static SampledToken token(MemorySegment from, long at, int top) {
    int id = from.get(ValueLayout.JAVA_INT, at);
    int[] ids = new int[Math.max(0, top)];
    float[] logprobs = new float[ids.length];
    MemorySegment.copy(from, ValueLayout.JAVA_INT, at + TOP, ids, 0, ids.length);
    MemorySegment.copy(
        from, ValueLayout.JAVA_FLOAT, at + TOP_LOGPROBS, logprobs, 0, logprobs.length);
    float logprob = top < 0 ? 0 : from.get(ValueLayout.JAVA_FLOAT, at + Integer.BYTES);
    return new SampledToken(id, logprob, ids, logprobs);
  }
}
