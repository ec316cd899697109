package firstlight.edge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.GivenFeedback;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads a feedback: whom it is about (exactly one of three), and at least one of value, comment and
 * correction. A type that is not said follows from the value: a number is numeric, true and false
 * are boolean, a string is categorical.
 */
final class FeedbackReader {
  private static final int NAME_MAX = 128;
  private static final int CATEGORY_MAX = 256;
  private static final int TEXT_MAX = 16_384;
  private static final int CORRECTION_MAX = 65_536;
  private static final int SOURCE_MAX = 64;
  private static final int PAIRS_MAX = 16;
  private static final int PAIR_NAME_MAX = 64;
  private static final int PAIR_VALUE_MAX = 512;
  private static final int POSITION_MAX = 100_000_000;
  private static final List<String> TARGETS = List.of("response_id", "conversation_id", "item_id");

  private FeedbackReader() {}

  /**
   * @param freshId its id when the client gave none
   * @throws MeshException naming the field that is wrong
   */
  static GivenFeedback read(ObjectNode body, String freshId) {
    Fields fields = new Fields(body);
    String id = identifier(fields, "id").orElse(freshId);
    Fields target = fields.object("target").orElseThrow(() -> fields.missing("target"));
    checkTarget(target);
    Value value = value(fields);
    String comment = fields.text("comment", TEXT_MAX).orElse("");
    String correction = fields.text("correction", CORRECTION_MAX).orElse("");
    GivenFeedback feedback =
        new GivenFeedback(
            id,
            identifier(target, "response_id").orElse(""),
            identifier(target, "conversation_id").orElse(""),
            identifier(target, "item_id").orElse(""),
            name(fields, value, comment, correction),
            value.dataType(),
            value.number(),
            value.text(),
            comment,
            correction,
            fields.text("source", SOURCE_MAX).orElse(""),
            fields.object("metadata").map(FeedbackReader::metadata).orElse(Map.of()),
            target.object("token_range").map(range -> range(target, range)).orElse(null),
            0);
    List<String> unknown = fields.unread();
    if (!unknown.isEmpty()) {
      String first = unknown.getFirst();
      throw MeshException.invalid("%s is not a field of a feedback.".formatted(shown(first)), null);
    }
    return feedback;
  }

  private static void checkTarget(Fields target) {
    List<String> given = TARGETS.stream().filter(target::has).toList();
    if (given.size() != 1) {
      throw MeshException.invalid(
          "target must have exactly one of response_id, conversation_id and item_id.", "target");
    }
  }

  private static GivenFeedback.Range range(Fields target, Fields range) {
    target.require(
        !target.has("conversation_id"), "token_range", "needs a response_id or an item_id");
    int start = range.integer("start", 0, POSITION_MAX).orElseThrow(() -> range.missing("start"));
    int end = range.integer("end", 1, POSITION_MAX).orElseThrow(() -> range.missing("end"));
    range.require(start < end, "end", "must be larger than start");
    return new GivenFeedback.Range(start, end);
  }

  /** What was judged, as one of two. */
  private record Value(String dataType, @Nullable Double number, @Nullable String text) {
    private static final Value NONE = new Value("", null, null);
  }

  private static Value value(Fields fields) {
    Optional<JsonNode> value = fields.any("value");
    Optional<String> type = fields.text("data_type");
    if (value.isEmpty()) {
      fields.require(type.isEmpty(), "data_type", "needs a value");
      return Value.NONE;
    }
    String dataType = type.orElseGet(() -> inferred(fields, value.get()));
    return switch (dataType) {
      case "numeric" ->
          new Value(
              dataType,
              fields.number("value", -Double.MAX_VALUE, Double.MAX_VALUE).orElseThrow(),
              null);
      case "boolean" -> new Value(dataType, fields.flag("value").orElseThrow() ? 1.0 : 0.0, null);
      case "categorical" -> new Value(dataType, null, category(fields));
      case "text" -> new Value(dataType, null, fields.text("value", TEXT_MAX).orElseThrow());
      default ->
          throw fields.refused(
              "data_type", "must be one of numeric, boolean, categorical and text");
    };
  }

  private static String category(Fields fields) {
    String category = fields.text("value", CATEGORY_MAX).orElseThrow();
    fields.require(!category.isBlank(), "value", "must not be blank");
    return category;
  }

  private static String inferred(Fields fields, JsonNode value) {
    return switch (value.getNodeType()) {
      case NUMBER -> "numeric";
      case BOOLEAN -> "boolean";
      case STRING -> "categorical";
      default -> throw fields.refused("value", "must be a number, true, false or a string");
    };
  }

  private static String name(Fields fields, Value value, String comment, String correction) {
    boolean valued = !value.dataType().isEmpty();
    if (!valued && comment.isEmpty() && correction.isEmpty()) {
      throw MeshException.invalid(
          "A feedback must have a value, a comment or a correction.", "value");
    }
    Optional<String> name = fields.text("name", NAME_MAX);
    if (valued && (name.isEmpty() || name.get().isBlank())) {
      throw fields.refused("name", "must say what the value means");
    }
    return name.orElse(correction.isEmpty() ? "comment" : "correction");
  }

  private static Map<String, String> metadata(Fields metadata) {
    int pairs = metadata.node().size();
    if (pairs > PAIRS_MAX) {
      throw MeshException.invalid(
          "metadata must have at most %d pairs.".formatted(PAIRS_MAX), "metadata");
    }
    Map<String, String> read = new TreeMap<>();
    for (Map.Entry<String, JsonNode> pair : metadata.node().properties()) {
      String name = pair.getKey();
      if (name.isEmpty() || name.length() > PAIR_NAME_MAX) {
        throw MeshException.invalid(
            "Names in metadata must have 1 to %d characters.".formatted(PAIR_NAME_MAX), "metadata");
      }
      read.put(
          name,
          metadata
              .text(name, PAIR_VALUE_MAX)
              .orElseThrow(() -> metadata.refused(name, "must be a string")));
    }
    return read;
  }

  /** Ids have the form of ours, so that they are safe as keys, names and in logs. */
  private static Optional<String> identifier(Fields fields, String name) {
    Optional<String> id = fields.text(name);
    id.ifPresent(
        text -> {
          try {
            new ResponseId(text);
          } catch (IllegalArgumentException e) {
            throw fields.refused(name, "must be 1 to 128 letters, digits or any of . _ - :");
          }
        });
    return id;
  }

  private static String shown(String field) {
    return field.length() > 64 ? field.substring(0, 64) + "…" : field;
  }
}
