package firstlight.edge;

import java.util.List;

/**
 * One token of an answer.
 *
 * @param bytes its true bytes, perhaps a part of a character only; empty for a control token
 * @param logprob natural logarithm of the model's probability; 0 unless log-probabilities were
 *     asked for
 * @param top the alternatives at its position, most probable first; empty unless asked for
 */
record TurnToken(int id, byte[] bytes, float logprob, List<Alternative> top) {
  TurnToken {
    top = List.copyOf(top);
  }

  /** A token that could have stood there. */
  record Alternative(int id, byte[] bytes, float logprob) {}
}
