package firstlight.protocol;

/**
 * Tokens, counted once.
 *
 * @param prompt all tokens of the prompt, cached ones included
 * @param cached those of them whose keys and values were found in the prefix cache
 * @param output tokens generated
 */
public record Usage(int prompt, int cached, int output) {
  public static final Usage NONE = new Usage(0, 0, 0);

  public Usage {
    if (prompt < 0 || cached < 0 || cached > prompt || output < 0) {
      throw new IllegalArgumentException(
          "tokens are counted from 0, and cached ones are of the prompt");
    }
  }

  public Usage plus(Usage other) {
    return new Usage(prompt + other.prompt, cached + other.cached, output + other.output);
  }

  public int total() {
    return prompt + output;
  }
}
