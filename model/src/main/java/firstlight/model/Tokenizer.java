package firstlight.model;

import java.util.OptionalInt;

/**
 * Turns text into token ids and back, as the model's own file says. Thread-safe.
 *
 * <p>A token is <em>control</em> when the file marks it so (a turn marker, the beginning or the end
 * of a text): it steers the model and stands for no text, unless it is a marker of calls or of
 * reasoning in an answer. Text that merely looks like one becomes such a token only in {@link
 * #encodeWithControl}.
 */
public interface Tokenizer {
  /**
   * The ids of plain text: never a control token, no beginning-of-text token. An unpaired surrogate
   * counts as U+FFFD.
   */
  int[] encode(String text);

  /** As {@link #encode}, but the texts of control tokens become their ids. */
  int[] encodeWithControl(String text);

  /**
   * The ids of a raw prompt: as {@link #encodeWithControl}, plus the beginning-of-text token (and
   * the end-of-text token) where the model's file asks for one. Not doubled when the text begins
   * with it.
   */
  int[] encodePrompt(String text);

  /**
   * The token's exact bytes, a copy; a control token has none, unless it is a marker of calls or of
   * reasoning.
   *
   * @throws IllegalArgumentException the id is outside the vocabulary
   */
  byte[] bytes(int id);

  /** Whether the token is a control token, which no plain text becomes. */
  boolean isControl(int id);

  /** The token as a person may read it: its text in the file, not always its bytes. */
  String text(int id);

  /** Number of ids; ids are 0 … size - 1. */
  int vocabularySize();

  /** The beginning-of-text token, where the file names one. */
  OptionalInt bos();

  /** The end-of-text token, where the file names one. */
  OptionalInt eos();

  /** The ids that end an answer: eos, eot and the control tokens that close a turn; ascending. */
  int[] endTokens();
}
