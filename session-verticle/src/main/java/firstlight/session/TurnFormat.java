package firstlight.session;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.Usage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A turn as bytes, for Redis. Three lines of text, so that a script can walk a chain without
 * knowing more: the version, the parent (empty: none), the number of characters. Then the other
 * components in CBOR, one after the other. A reader takes what it cannot read for a turn that is
 * not there, so nodes of two versions can share one Redis.
 */
final class TurnFormat {
  static final String VERSION = "1";

  private static final int HEADER_LINES = 3;

  private static final CBORFactory CBOR =
      CBORFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder().maxStringLength(StoredTurn.JSON_BYTES_MAX).build())
          .build();

  private TurnFormat() {}

  static byte[] bytes(StoredTurn turn) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(Allowance.characters(turn) + 256);
    String parent = turn.parent() == null ? "" : turn.parent().value();
    bytes.writeBytes(
        "%s\n%s\n%d\n"
            .formatted(VERSION, parent, Allowance.characters(turn))
            .getBytes(StandardCharsets.US_ASCII));
    try (JsonGenerator cbor = CBOR.createGenerator(bytes)) {
      cbor.writeString(turn.tenant().value());
      cbor.writeString(turn.response().value());
      cbor.writeString(turn.model());
      cbor.writeNumber(turn.created());
      cbor.writeString(turn.status());
      cbor.writeString(turn.input());
      cbor.writeString(turn.output());
      cbor.writeString(turn.resource());
      cbor.writeNumber(turn.usage().prompt());
      cbor.writeNumber(turn.usage().cached());
      cbor.writeNumber(turn.usage().output());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * @return empty when it is of another version, damaged, or not the turn of that key
   */
  static Optional<StoredTurn> turn(TurnKey key, byte[] bytes) {
    int[] ends = new int[HEADER_LINES];
    int from = 0;
    for (int line = 0; line < HEADER_LINES; line++) {
      ends[line] = indexOf(bytes, from);
      if (ends[line] < 0) {
        return Optional.empty();
      }
      from = ends[line] + 1;
    }
    String version = new String(bytes, 0, ends[0], StandardCharsets.US_ASCII);
    String parent =
        new String(bytes, ends[0] + 1, ends[1] - ends[0] - 1, StandardCharsets.US_ASCII);
    if (!version.equals(VERSION)) {
      return Optional.empty();
    }
    try (JsonParser cbor = CBOR.createParser(bytes, from, bytes.length - from)) {
      StoredTurn turn = read(cbor, parent.isEmpty() ? null : new ResponseId(parent));
      return TurnKey.of(turn).equals(key) ? Optional.of(turn) : Optional.empty();
    } catch (IOException | IllegalArgumentException _) {
      return Optional.empty();
    }
  }

  private static StoredTurn read(JsonParser cbor, @Nullable ResponseId parent) throws IOException {
    TenantId tenant = new TenantId(text(cbor));
    ResponseId response = new ResponseId(text(cbor));
    String model = text(cbor);
    long created = number(cbor);
    String status = text(cbor);
    String input = text(cbor);
    String output = text(cbor);
    String resource = text(cbor);
    Usage usage =
        new Usage(
            Math.toIntExact(number(cbor)),
            Math.toIntExact(number(cbor)),
            Math.toIntExact(number(cbor)));
    return new StoredTurn(
        response, tenant, parent, model, created, status, input, output, resource, usage);
  }

  private static String text(JsonParser cbor) throws IOException {
    expect(cbor, JsonToken.VALUE_STRING);
    return cbor.getText();
  }

  private static long number(JsonParser cbor) throws IOException {
    expect(cbor, JsonToken.VALUE_NUMBER_INT);
    return cbor.getLongValue();
  }

  private static void expect(JsonParser cbor, JsonToken token) throws IOException {
    if (cbor.nextToken() != token) {
      throw new IllegalArgumentException("a stored turn has no %s here".formatted(token));
    }
  }

  private static int indexOf(byte[] bytes, int from) {
    for (int i = from; i < bytes.length; i++) {
      if (bytes[i] == '\n') {
        return i;
      }
    }
    return -1;
  }
}
