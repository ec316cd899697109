package firstlight.bench;

import firstlight.model.Tokenizer;
import java.util.List;
import java.util.random.RandomGenerator;

/** Texts of a wanted length in tokens, each beginning with other words than all others. */
final class Prompts {
  private static final List<String> WORDS =
      List.of(
          ("time year people way day man thing woman life child world school state family student"
                  + " group country problem hand part place case week company system program"
                  + " question work government number night point home water room mother area money"
                  + " story fact month lot right study book eye job word business issue side kind"
                  + " head house service friend father power hour game line end member law car city"
                  + " community name president team minute idea kid body information back parent"
                  + " face others level office door health person art war history party result"
                  + " change morning reason research girl guy moment air teacher force education")
              .split(" "));

  private final Tokenizer tokenizer;
  private final RandomGenerator random;

  Prompts(Tokenizer tokenizer, RandomGenerator random) {
    this.tokenizer = tokenizer;
    this.random = random;
  }

  /** At least so many tokens, and at most a word more. */
  String text(int tokens) {
    StringBuilder text = new StringBuilder(word());
    int missing = tokens - tokenizer.encode(text.toString()).length;
    while (missing > 0) {
      // Words of several tokens would overshoot, so only half of what is missing is added.
      for (int i = 0; i < Math.max(1, missing / 2); i++) {
        text.append(' ').append(word());
      }
      missing = tokens - tokenizer.encode(text.toString()).length;
    }
    return text.toString();
  }

  private String word() {
    return WORDS.get(random.nextInt(WORDS.size()));
  }
}
