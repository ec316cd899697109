package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the text of an Item was cut into deltas: for each, its characters, and behind a colon its
 * log-probabilities if there are any. One short string, e.g. {@code 5:1,1,12:2}.
 */
final class ResponseCuts {
  /** Of what is kept of an Item; no client sees it. */
  static final String KEY = "cuts";

  private final StringBuilder cuts = new StringBuilder();

  /** One delta. */
  record Piece(String text, ArrayNode logprobs) {}

  void add(int characters, int logprobs) {
    cuts.append(cuts.isEmpty() ? "" : ",").append(characters);
    if (logprobs > 0) {
      cuts.append(':').append(logprobs);
    }
  }

  @Override
  public String toString() {
    return cuts.toString();
  }

  /**
   * The deltas of an Item.
   *
   * @param item with its whole text and all its log-probabilities
   */
  static List<Piece> pieces(JsonNode item, String cuts) {
    String text = item.path("arguments").asText() + item.at("/content/0/text").asText();
    JsonNode logprobs = item.at("/content/0/logprobs");
    List<Piece> pieces = new ArrayList<>();
    int character = 0;
    int logprob = 0;
    for (String cut : cuts.isEmpty() ? List.<String>of() : List.of(cuts.split(","))) {
      String[] counts = cut.split(":");
      ArrayNode own = Json.array();
      for (int i = counts.length > 1 ? Integer.parseInt(counts[1]) : 0; i > 0; i--) {
        own.add(logprobs.get(logprob++));
      }
      int end = character + Integer.parseInt(counts[0]);
      pieces.add(new Piece(text.substring(character, end), own));
      character = end;
    }
    return pieces;
  }
}
