package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.Sampling;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/** Reads the options of sampling and stopping that several dialects share. */
final class SamplingReader {
  private static final Pattern TOKEN_ID = Pattern.compile("0|[1-9][0-9]{0,8}");
  private static final int BIAS_MAX = 100;
  private static final int REPETITION_PENALTY_MAX = 10;

  private final EdgeConfig.Limits limits;

  SamplingReader(EdgeConfig.Limits limits) {
    this.limits = limits;
  }

  /**
   * Reads temperature, top_p, top_k, min_p, the penalties, logit_bias and seed.
   *
   * @param fallbackSeed for a request without one
   * @param topLogprobs -1: no log-probabilities wanted
   */
  Sampling sampling(Fields fields, long fallbackSeed, int topLogprobs) {
    double topP = fields.number("top_p", 0, 1).orElse(1);
    fields.require(topP > 0, "top_p", "must be above 0");
    double repetition = fields.number("repetition_penalty", 0, REPETITION_PENALTY_MAX).orElse(1);
    fields.require(repetition > 0, "repetition_penalty", "must be above 0");
    ObjectNode biases = biases(fields);
    int[] biasTokens = new int[biases.size()];
    float[] biasValues = new float[biases.size()];
    int i = 0;
    for (Map.Entry<String, JsonNode> bias : biases.properties()) {
      biasTokens[i] = Integer.parseInt(bias.getKey());
      biasValues[i++] = bias.getValue().floatValue();
    }
    return new Sampling(
        (float) fields.number("temperature", 0, 2).orElse(1),
        // vLLM's word for "all" is -1.
        Math.max(0, fields.integer("top_k", -1, Integer.MAX_VALUE).orElse(0)),
        aboveZero(topP),
        (float) fields.number("min_p", 0, 1).orElse(0),
        aboveZero(repetition),
        (float) fields.number("presence_penalty", -2, 2).orElse(0),
        (float) fields.number("frequency_penalty", -2, 2).orElse(0),
        biasTokens,
        biasValues,
        fields.whole("seed").orElse(fallbackSeed),
        topLogprobs);
  }

  /** The stop strings: a string, a list of strings, or null. */
  List<String> stops(Fields fields) {
    JsonNode value = fields.any("stop").orElse(null);
    if (value != null && value.isTextual()) {
      return checked(fields, "stop", List.of(value.textValue()));
    }
    fields.require(
        value == null || value.isArray(), "stop", "must be a string or a list of strings");
    return stops(fields, "stop");
  }

  /** The stop strings: a list under this name, or null. */
  List<String> stops(Fields fields, String name) {
    return checked(fields, name, fields.texts(name, limits.stopStringsMax()));
  }

  private List<String> checked(Fields fields, String name, List<String> stops) {
    for (String stop : stops) {
      fields.require(!stop.isEmpty(), name, "must not have an empty string");
      fields.require(
          stop.length() <= limits.stopCharactersMax(),
          name,
          "must have strings of at most %d characters".formatted(limits.stopCharactersMax()));
    }
    return stops;
  }

  /** The most tokens of an answer, under the first of these names that is given. */
  static OptionalInt outputMax(Fields fields, String... names) {
    OptionalInt first = OptionalInt.empty();
    for (String name : names) {
      OptionalInt value = fields.integer(name, 1, Integer.MAX_VALUE);
      first = first.isPresent() ? first : value;
    }
    return first;
  }

  private ObjectNode biases(Fields fields) {
    JsonNode value = fields.any("logit_bias").orElse(Json.object());
    fields.require(value.isObject(), "logit_bias", "must be an object");
    fields.require(
        value.size() <= limits.logitBiasesMax(),
        "logit_bias",
        "must have at most %d entries".formatted(limits.logitBiasesMax()));
    for (Map.Entry<String, JsonNode> bias : value.properties()) {
      fields.require(
          TOKEN_ID.matcher(bias.getKey()).matches(), "logit_bias", "must have token ids as names");
      double number = bias.getValue().isNumber() ? bias.getValue().doubleValue() : Double.NaN;
      fields.require(
          Math.abs(number) <= BIAS_MAX,
          "logit_bias",
          "must have values between -%d and %d".formatted(BIAS_MAX, BIAS_MAX));
    }
    return (ObjectNode) value;
  }

  // What is above 0 as a double may not be as a float.
  private static float aboveZero(double value) {
    return Math.max((float) value, Float.MIN_NORMAL);
  }
}
