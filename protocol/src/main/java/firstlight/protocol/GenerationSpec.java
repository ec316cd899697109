package firstlight.protocol;

import java.util.List;

/**
 * Everything that decides a generation: it is a pure function of this, bit for bit. The arrays
 * belong to the record: nobody changes them.
 *
 * @param prompt token ids
 * @param known tokens already known to follow the prompt; the generation goes on after them
 * @param outputMax most tokens to generate, known ones included; where all of them are known, only
 *     how it ended is asked
 * @param stop stop strings, as bytes of UTF-8
 * @param stopTokens ids that end the generation; they count as output but are not part of its text
 * @param deadline Unix time, ms, by which the first token must be there; 0: the replica's own limit
 * @param priority whose turn it is when several wait; changes no token
 * @param continued whether a next turn is expected to begin with this prompt and its answer, so
 *     that what was computed is worth keeping; changes no token
 * @param constraint a grammar in GBNF that the text must follow; empty: none
 * @param moved whether another replica had let it in and was lost; changes no token
 */
public record GenerationSpec(
    GenerationId id,
    TenantId tenant,
    String model,
    int[] prompt,
    int[] known,
    int outputMax,
    Sampling sampling,
    List<byte[]> stop,
    int[] stopTokens,
    long deadline,
    Priority priority,
    boolean continued,
    String constraint,
    boolean moved) {
  public GenerationSpec {
    stop = List.copyOf(stop);
    if (prompt.length == 0) {
      throw new IllegalArgumentException("a prompt has at least one token");
    }
    if (outputMax < 1 || known.length > outputMax) {
      throw new IllegalArgumentException("a generation has no more tokens than it may");
    }
  }

  public boolean isConstrained() {
    return !constraint.isEmpty();
  }

  /** An unconstrained one of {@link Priority#NORMAL}, which nothing is expected to follow. */
  public GenerationSpec(
      GenerationId id,
      TenantId tenant,
      String model,
      int[] prompt,
      int[] known,
      int outputMax,
      Sampling sampling,
      List<byte[]> stop,
      int[] stopTokens,
      long deadline) {
    this(
        id,
        tenant,
        model,
        prompt,
        known,
        outputMax,
        sampling,
        stop,
        stopTokens,
        deadline,
        Priority.NORMAL,
        false,
        "",
        false);
  }

  /**
   * The rest of it, for another replica.
   *
   * @param rest its name there
   * @param sofar the tokens that came
   */
  public GenerationSpec moved(GenerationId rest, int[] sofar) {
    return new GenerationSpec(
        rest,
        tenant,
        model,
        prompt,
        sofar,
        outputMax,
        sampling,
        stop,
        stopTokens,
        deadline,
        priority,
        continued,
        constraint,
        true);
  }
}
