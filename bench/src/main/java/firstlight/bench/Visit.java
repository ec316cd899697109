package firstlight.bench;

import java.util.List;

/**
 * A client of an open loop: what it met with when it came, and again when it was told to.
 *
 * @param answers one, or two when the first was a refusal with a time
 */
record Visit(List<Answer> answers) {
  Visit {
    answers = List.copyOf(answers);
  }

  Answer first() {
    return answers.getFirst();
  }

  Answer last() {
    return answers.getLast();
  }

  boolean cameAgain() {
    return answers.size() > 1;
  }
}
