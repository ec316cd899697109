package firstlight.edge;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.SerializableString;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.io.CharacterEscapes;
import com.fasterxml.jackson.core.io.SerializedString;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads JSON from clients within limits, and writes it so that every client can split it into
 * lines. Thread-safe.
 *
 * <p>Refused with a {@link MeshException}: anything but UTF-8, names that stand twice in an object,
 * NaN and Infinity, text after the end, unpaired surrogates (a name for the field is given), and
 * whatever is nested deeper or longer than the limits.
 */
final class Json {
  private static final int NUMBER_CHARACTERS_MAX = 64;
  private static final int NAME_CHARACTERS_MAX = 4096;
  private static final Pattern DUPLICATE = Pattern.compile("Duplicate [Ff]ield '([^']{1,100})'");
  private static final ObjectMapper WRITER = writer();

  private final ObjectMapper reader;
  private final EdgeConfig.Limits limits;

  Json(EdgeConfig.Limits limits) {
    this.limits = limits;
    StreamReadConstraints constraints =
        StreamReadConstraints.builder()
            .maxNestingDepth(limits.jsonDepthMax())
            .maxNumberLength(NUMBER_CHARACTERS_MAX)
            .maxNameLength(NAME_CHARACTERS_MAX)
            .maxStringLength(limits.bodyBytesMax())
            .maxTokenCount(limits.jsonTokensMax())
            .build();
    this.reader =
        JsonMapper.builder(
                JsonFactory.builder()
                    .streamReadConstraints(constraints)
                    .disable(JsonFactory.Feature.CHARSET_DETECTION)
                    .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                    .build())
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .disable(JsonParser.Feature.AUTO_CLOSE_SOURCE)
            .build();
  }

  /**
   * Reads one object.
   *
   * @throws MeshException it is none, or breaks a limit
   */
  ObjectNode object(Buffer body) {
    return object(body.getBytes());
  }

  /** As {@link #object(Buffer)}. */
  ObjectNode object(byte[] body) {
    if (body.length > limits.bodyBytesMax()) {
      throw tooLarge(limits.bodyBytesMax());
    }
    JsonNode tree;
    try {
      tree = reader.readTree(body);
    } catch (IOException e) {
      throw refused(e);
    }
    if (!(tree instanceof ObjectNode object)) {
      throw MeshException.invalid("The body must be a JSON object.", null);
    }
    checkSurrogates(object, "");
    return object;
  }

  /**
   * Reads any JSON value that stands as text inside of a request, such as a tool call's arguments.
   *
   * @throws MeshException it is not JSON, or breaks a limit
   */
  JsonNode value(String text) {
    try {
      return reader.readTree(text);
    } catch (IOException e) {
      throw refused(e);
    }
  }

  /** Reads an object that this mesh has written itself, so within no limits for clients. */
  static ObjectNode own(String text) {
    try {
      return (ObjectNode) WRITER.readTree(text);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The value as maps, lists, texts, numbers and booleans of the JDK. */
  Object plain(JsonNode value) {
    return reader.convertValue(value, Object.class);
  }

  /** The object as a map of values of the JDK. */
  @SuppressWarnings("unchecked")
  Map<String, Object> plain(ObjectNode object) {
    return reader.convertValue(object, Map.class);
  }

  /** Whether a text that a model wrote is JSON. */
  static boolean isValid(String text) {
    try {
      return !WRITER.readTree(text).isMissingNode();
    } catch (JsonProcessingException _) {
      return false;
    }
  }

  /** Maps, lists, texts, numbers and booleans of the JDK as a JSON value. */
  static JsonNode tree(Object plain) {
    return WRITER.valueToTree(plain);
  }

  static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  static ArrayNode array() {
    return JsonNodeFactory.instance.arrayNode();
  }

  /** One line of UTF-8; characters that some clients take for line ends are escaped. */
  static Buffer bytes(JsonNode value) {
    try {
      return Buffer.buffer(WRITER.writeValueAsBytes(value));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** As {@link #bytes}. */
  static String text(JsonNode value) {
    return bytes(value).toString();
  }

  static MeshException tooLarge(long bytesMax) {
    return new MeshException(
        FailureKind.TOO_LARGE,
        "body_too_large",
        "The body is larger than %d bytes.".formatted(bytesMax));
  }

  // Messages of the library are not for clients: they name its classes.
  private MeshException refused(IOException failure) {
    if (failure instanceof StreamConstraintsException) {
      return invalid(
          ("The body's JSON breaks a limit: it may be nested %d deep, have %d values and brackets,"
                  + " numbers of %d and names of %d characters.")
              .formatted(
                  limits.jsonDepthMax(),
                  limits.jsonTokensMax(),
                  NUMBER_CHARACTERS_MAX,
                  NAME_CHARACTERS_MAX));
    }
    Matcher duplicate = DUPLICATE.matcher(String.valueOf(failure.getMessage()));
    if (duplicate.find()) {
      return MeshException.invalid(
          "%s stands twice in the same object.".formatted(duplicate.group(1)), duplicate.group(1));
    }
    if (failure instanceof JsonProcessingException json && json.getLocation() != null) {
      return invalid(
          "The body is not valid JSON in UTF-8 (line %d, column %d)."
              .formatted(json.getLocation().getLineNr(), json.getLocation().getColumnNr()));
    }
    return invalid("The body is not valid JSON in UTF-8.");
  }

  private static MeshException invalid(String message) {
    return new MeshException(FailureKind.INVALID_REQUEST, "invalid_json", message);
  }

  private static void checkSurrogates(JsonNode node, String path) {
    if (node.isTextual()) {
      if (hasUnpairedSurrogate(node.textValue())) {
        throw MeshException.invalid(
            "%s has half of a surrogate pair, which is not a character.".formatted(path), path);
      }
    } else if (node instanceof ObjectNode object) {
      for (Map.Entry<String, JsonNode> field : object.properties()) {
        if (hasUnpairedSurrogate(field.getKey())) {
          throw MeshException.invalid(
              "A name in %s has half of a surrogate pair.".formatted(path.isEmpty() ? "it" : path),
              path.isEmpty() ? null : path);
        }
        checkSurrogates(
            field.getValue(), path.isEmpty() ? field.getKey() : path + "." + field.getKey());
      }
    } else if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        JsonNode element = array.get(i);
        if (element.isTextual() || element.isContainerNode()) {
          checkSurrogates(element, "%s[%d]".formatted(path, i));
        }
      }
    }
  }

  private static boolean hasUnpairedSurrogate(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        boolean pair =
            Character.isHighSurrogate(c)
                && i + 1 < text.length()
                && Character.isLowSurrogate(text.charAt(i + 1));
        if (!pair) {
          return true;
        }
        i++;
      }
    }
    return false;
  }

  private static ObjectMapper writer() {
    JsonFactory factory = JsonFactory.builder().build();
    factory.setCharacterEscapes(new LineEnds());
    return JsonMapper.builder(factory).build();
  }

  /** U+0085, U+2028 and U+2029 are legal in JSON, but line ends for some readers. */
  private static final class LineEnds extends CharacterEscapes {
    private static final long serialVersionUID = 1L;

    @Override
    public int[] getEscapeCodesForAscii() {
      return standardAsciiEscapesForJSON();
    }

    @Override
    public @Nullable SerializableString getEscapeSequence(int c) {
      return switch (c) {
        case 0x85, 0x2028, 0x2029 -> new SerializedString("\\u%04x".formatted(c));
        default -> null;
      };
    }
  }
}
