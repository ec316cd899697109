package firstlight.gpu;

import static firstlight.gpu.Lanes.FLOATS;

import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorMask;
import org.jspecify.annotations.Nullable;

/**
 * Chooses a token from a row of logits. A pure function of the logits, the options, the tokens
 * before and the position; one thread's own, since it keeps scratch space.
 *
 * <p>Logits that are not numbers count as the least that there is, and infinite ones as the largest
 * float, so that a broken number harms no other Sequence and never becomes an exception.
 */
final class Sampler {
  private static final int[] NO_IDS = new int[0];
  private static final float[] NO_LOGPROBS = new float[0];

  /** How many candidates to look at first when it is not known how many will do. */
  private static final int FIRST_CANDIDATES = 128;

  private final int vocabulary;
  private final float[] adjusted;
  private final Candidates candidates = new Candidates();
  private final float[] weights;

  /** 1 for a token that is there, and 1 more for each time in the output; 0 between calls. */
  private final int[] seen;

  Sampler(int vocabulary) {
    this.vocabulary = vocabulary;
    this.adjusted = new float[vocabulary];
    this.weights = new float[vocabulary];
    this.seen = new int[vocabulary];
  }

  /** A row of logits in a buffer. */
  record Row(float[] logits, int at) {}

  /**
   * The tokens before the one to be chosen, where penalties ask for them.
   *
   * @param promptLength how many of them are the prompt; may be more than there are
   */
  record Before(int[] tokens, int promptLength) {}

  /**
   * @param row its logits are made finite
   * @param before what penalties look at
   * @param position index in the Sequence of the token to be chosen
   * @param allowed the tokens to choose from, a bit for each id, at least one; null: all
   */
  SampledToken sample(
      Row row, Sampling sampling, Before before, int position, long @Nullable [] allowed) {
    makeFinite(row);
    int id = choose(adjust(row, sampling, before, allowed), sampling, position, allowed);
    return sampling.topLogprobs() < 0
        ? new SampledToken(id, 0, NO_IDS, NO_LOGPROBS)
        : withLogprobs(row, id, sampling.topLogprobs());
  }

  private void makeFinite(Row row) {
    for (int i = row.at; i < row.at + vocabulary; i++) {
      float logit = row.logits[i];
      if (!(Math.abs(logit) <= Float.MAX_VALUE)) {
        row.logits[i] = logit > 0 ? Float.MAX_VALUE : -Float.MAX_VALUE;
      }
    }
  }

  /** A changed copy, or the row itself where there is nothing to change. */
  private Row adjust(Row row, Sampling sampling, Before before, long @Nullable [] allowed) {
    if (!sampling.hasPenalties() && sampling.biasTokens().length == 0 && allowed == null) {
      return row;
    }
    Row changed = new Row(adjusted, 0);
    System.arraycopy(row.logits, row.at, adjusted, 0, vocabulary);
    penalise(sampling, before);
    bias(sampling);
    makeFinite(changed);
    if (allowed != null) {
      forbid(allowed);
    }
    return changed;
  }

  /** Less than the least that an allowed one can have. */
  private void forbid(long[] allowed) {
    for (int id = 0; id < vocabulary; id++) {
      if ((allowed[id >> 6] >>> id & 1) == 0) {
        adjusted[id] = Float.NEGATIVE_INFINITY;
      }
    }
  }

  private int choose(Row row, Sampling sampling, int position, long @Nullable [] allowed) {
    int best = best(row);
    if (sampling.temperature() == 0) {
      return best;
    }
    double total = weigh(row, row.logits[row.at + best], sampling.temperature(), allowed != null);
    double draw = Draws.uniform(sampling.seed(), position);
    return sampling.topK() == 0 && sampling.topP() == 1 && sampling.minP() == 0
        ? drawFromAll(total, draw)
        : drawFromBest(row, sampling, total, draw);
  }

  /**
   * Repetition is of prompt and output, presence and frequency are of the output alone: a word of
   * the question may be used in the answer once without any harm.
   */
  private void penalise(Sampling sampling, Before before) {
    if (!sampling.hasPenalties()) {
      return;
    }
    int[] tokens = before.tokens();
    for (int i = 0; i < tokens.length; i++) {
      int times = i < before.promptLength() ? 0 : 1;
      seen[tokens[i]] = Math.max(seen[tokens[i]], 1) + times;
    }
    for (int id : tokens) {
      if (seen[id] > 0) {
        penalise(id, seen[id] - 1, sampling);
        seen[id] = 0;
      }
    }
  }

  private void penalise(int id, int times, Sampling sampling) {
    float repetition = sampling.repetitionPenalty();
    float logit = adjusted[id] > 0 ? adjusted[id] / repetition : adjusted[id] * repetition;
    adjusted[id] =
        times == 0
            ? logit
            : logit - sampling.presencePenalty() - sampling.frequencyPenalty() * times;
  }

  private void bias(Sampling sampling) {
    for (int i = 0; i < sampling.biasTokens().length; i++) {
      adjusted[sampling.biasTokens()[i]] += sampling.biasValues()[i];
    }
  }

  private int best(Row row) {
    int best = 0;
    float most = row.logits[row.at];
    for (int id = 1; id < vocabulary; id++) {
      if (row.logits[row.at + id] > most) {
        most = row.logits[row.at + id];
        best = id;
      }
    }
    return best;
  }

  private int drawFromAll(double total, double draw) {
    double left = draw * total;
    int last = 0;
    for (int id = 0; id < vocabulary && left >= 0; id++) {
      if (weights[id] > 0) {
        left -= weights[id];
        last = id;
      }
    }
    return last;
  }

  /** Looks at more candidates until those that top-p keeps are among them. */
  private int drawFromBest(Row row, Sampling sampling, double total, double draw) {
    int most = sampling.topK() == 0 ? vocabulary : Math.min(sampling.topK(), vocabulary);
    int count = sampling.topK() == 0 ? Math.min(FIRST_CANDIDATES, most) : most;
    while (true) {
      candidates.find(row.logits, row.at, vocabulary, count);
      double whole = sampling.topK() == 0 ? total : sumOfBest(count);
      int kept = kept(sampling, sampling.topP() * whole);
      if (kept < count || count == most) {
        return candidates.id(rankAt(draw * sumOfBest(kept), kept));
      }
      count = (int) Math.min(most, count * 8L);
    }
  }

  private double sumOfBest(int count) {
    double sum = 0;
    for (int rank = 0; rank < count; rank++) {
      sum += weights[candidates.id(rank)];
    }
    return sum;
  }

  /** How many of the candidates top-p and min-p leave; at least one. */
  private int kept(Sampling sampling, double enough) {
    double least = sampling.minP() * weights[candidates.id(0)];
    double sum = 0;
    int kept = 0;
    while (kept < candidates.size()
        && (kept == 0
            || sum < enough
                && weights[candidates.id(kept)] >= least
                && weights[candidates.id(kept)] > 0)) {
      sum += weights[candidates.id(kept)];
      kept++;
    }
    return kept;
  }

  private int rankAt(double mark, int kept) {
    double left = mark;
    int rank = 0;
    while (rank < kept - 1 && (left -= weights[candidates.id(rank)]) >= 0) {
      rank++;
    }
    return rank;
  }

  /**
   * Writes e to the (logit - max) / temperature for all tokens; their sum.
   *
   * @param forbidding whether there are tokens of no weight at all
   */
  private double weigh(Row row, float max, float temperature, boolean forbidding) {
    int whole = FLOATS.loopBound(vocabulary);
    for (int i = 0; i < whole; i += Lanes.COUNT) {
      weight(FloatVector.fromArray(FLOATS, row.logits, row.at + i), max, temperature)
          .intoArray(weights, i);
    }
    VectorMask<Float> rest = FLOATS.indexInRange(whole, vocabulary);
    if (rest.anyTrue()) {
      weight(FloatVector.fromArray(FLOATS, row.logits, row.at + whole, rest), max, temperature)
          .intoArray(weights, whole, rest);
    }
    double total = 0;
    for (int id = 0; id < vocabulary; id++) {
      if (forbidding && row.logits[row.at + id] == Float.NEGATIVE_INFINITY) {
        weights[id] = 0;
      }
      total += weights[id];
    }
    return total;
  }

  /** Divided, not multiplied by the inverse: that of the smallest temperatures is infinite. */
  private static FloatVector weight(FloatVector logits, float max, float temperature) {
    return VectorMath.exp(logits.sub(max).div(temperature));
  }

  private SampledToken withLogprobs(Row row, int id, int count) {
    candidates.find(row.logits, row.at, vocabulary, Math.max(1, count));
    float max = row.logits[row.at + candidates.id(0)];
    double logOfSum = StrictMath.log(weigh(row, max, 1, false));
    int[] ids = new int[Math.min(count, vocabulary)];
    float[] logprobs = new float[ids.length];
    for (int rank = 0; rank < ids.length; rank++) {
      ids[rank] = candidates.id(rank);
      logprobs[rank] = logprob(row, ids[rank], max, logOfSum);
    }
    return new SampledToken(id, logprob(row, id, max, logOfSum), ids, logprobs);
  }

  /** Never more than 0, which rounding could make of a certain token's. */
  private static float logprob(Row row, int id, double max, double logOfSum) {
    double logprob = row.logits[row.at + id] - max - logOfSum;
    return (float) Math.clamp(logprob, -Float.MAX_VALUE, 0);
  }
}
