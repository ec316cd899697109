package firstlight.model;

/**
 * What an answer is made of, in the order in which it comes. An Item of one kind ends where one of
 * another kind begins, a call where the next {@link Call} begins, and all with the answer.
 */
public sealed interface AnswerPart {
  /** More of the text for the reader. */
  record Text(String text) implements AnswerPart {}

  /** More of what the model thinks before it answers. */
  record Reasoning(String text) implements AnswerPart {}

  /** A tool is called. */
  record Call(String name) implements AnswerPart {}

  /** More of the arguments of the call that began last: pieces of one JSON text. */
  record Arguments(String json) implements AnswerPart {}
}
