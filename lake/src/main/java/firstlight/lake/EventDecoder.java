package firstlight.lake;

import com.google.protobuf.InvalidProtocolBufferException;
import firstlight.protocol.wire.Event;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Tells an Event from whatever else may lie on the topic. Never throws. */
public final class EventDecoder {
  /** The newest schema this version understands. */
  public static final int SCHEMA_MAX = 2;

  private static final int ID_LENGTH_MAX = 256;

  /** Why a record is no Event. */
  public enum Poison {
    NULL_VALUE,
    EMPTY_VALUE,
    UNDECODABLE,
    UNKNOWN_SCHEMA,
    INVALID_ID,
    UNKNOWN_BODY;

    /** E.g. {@code unknown_body}, as in metrics and in the headers of dead letters. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public sealed interface Decoded {}

  public record Good(Event event, LakeKind kind) implements Decoded {}

  public record Bad(Poison reason) implements Decoded {}

  private EventDecoder() {}

  public static Decoded decode(byte @Nullable [] value) {
    if (value == null) {
      return new Bad(Poison.NULL_VALUE);
    }
    if (value.length == 0) {
      return new Bad(Poison.EMPTY_VALUE);
    }
    try {
      return check(Event.parseFrom(value));
    } catch (InvalidProtocolBufferException e) {
      return new Bad(Poison.UNDECODABLE);
    }
  }

  private static Decoded check(Event event) {
    if (event.getSchema() < 1 || event.getSchema() > SCHEMA_MAX) {
      return new Bad(Poison.UNKNOWN_SCHEMA);
    }
    if (event.getId().isEmpty() || event.getId().length() > ID_LENGTH_MAX) {
      return new Bad(Poison.INVALID_ID);
    }
    return switch (event.getBodyCase()) {
      case RESPONSE -> new Good(event, LakeKind.RESPONSE);
      case FEEDBACK -> new Good(event, LakeKind.FEEDBACK);
      case TOOL_CALL -> new Good(event, LakeKind.TOOL_CALL);
      case ERROR -> new Good(event, LakeKind.ERROR);
      case REFUSAL -> new Good(event, LakeKind.REFUSAL);
      case BODY_NOT_SET -> new Bad(Poison.UNKNOWN_BODY);
    };
  }
}
