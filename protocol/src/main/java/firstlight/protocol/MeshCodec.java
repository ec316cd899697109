package firstlight.protocol;

import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.MessageCodec;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The one codec of the event bus: a tag byte, the length, and the record's components as CBOR.
 * Inside a JVM messages are passed as they are, since they never change.
 */
public final class MeshCodec implements MessageCodec<MeshMessage, MeshMessage> {
  private static final String NAME = "mesh";
  private static final int DEPTH_MAX = 16;
  private static final int TEXT_MAX = StoredTurn.JSON_BYTES_MAX;

  private final ObjectMapper mapper =
      CBORMapper.builder(
              CBORFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(DEPTH_MAX)
                          .maxStringLength(TEXT_MAX)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private MeshCodec() {}

  /** Makes the bus carry {@link MeshMessage}s. */
  public static void register(EventBus bus) {
    bus.registerCodec(new MeshCodec());
    bus.codecSelector(body -> body instanceof MeshMessage ? NAME : null);
  }

  /** For tests of other modules, which want to see their messages on the wire. */
  static MeshCodec create() {
    return new MeshCodec();
  }

  @Override
  public void encodeToWire(Buffer buffer, MeshMessage message) {
    try {
      byte[] body = mapper.writeValueAsBytes(message);
      buffer.appendByte((byte) tag(message)).appendInt(body.length).appendBytes(body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public MeshMessage decodeFromWire(int position, Buffer buffer) {
    int tag = buffer.getByte(position);
    int length = buffer.getInt(position + 1);
    byte[] body = buffer.getBytes(position + 5, position + 5 + length);
    try {
      return mapper.readValue(body, type(tag));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int tag(MeshMessage message) {
    return switch (message) {
      case ClaimDevice _ -> 1;
      case RunStep _ -> 2;
      case DeviceClaimed _ -> 3;
      case StepResult _ -> 4;
      case FindHistory _ -> 5;
      case StoreTurn _ -> 6;
      case DeleteTurn _ -> 7;
      case History _ -> 8;
      case TurnStored _ -> 9;
      case TurnDeleted _ -> 10;
      case ReplicaReport _ -> 11;
      case CreateConversation _ -> 12;
      case FindConversation _ -> 13;
      case ChangeConversation _ -> 14;
      case DeleteConversation _ -> 15;
      case AppendItems _ -> 16;
      case RemoveItem _ -> 17;
      case ConversationFound _ -> 18;
      case ConversationDeleted _ -> 19;
      case NoteFeedback _ -> 20;
      case FeedbackNoted _ -> 21;
    };
  }

  private static Class<? extends MeshMessage> type(int tag) {
    return switch (tag) {
      case 1 -> ClaimDevice.class;
      case 2 -> RunStep.class;
      case 3 -> DeviceClaimed.class;
      case 4 -> StepResult.class;
      case 5 -> FindHistory.class;
      case 6 -> StoreTurn.class;
      case 7 -> DeleteTurn.class;
      case 8 -> History.class;
      case 9 -> TurnStored.class;
      case 10 -> TurnDeleted.class;
      case 11 -> ReplicaReport.class;
      case 12 -> CreateConversation.class;
      case 13 -> FindConversation.class;
      case 14 -> ChangeConversation.class;
      case 15 -> DeleteConversation.class;
      case 16 -> AppendItems.class;
      case 17 -> RemoveItem.class;
      case 18 -> ConversationFound.class;
      case 19 -> ConversationDeleted.class;
      case 20 -> NoteFeedback.class;
      case 21 -> FeedbackNoted.class;
      default -> throw new IllegalArgumentException("no message has the tag " + tag);
    };
  }

  @Override
  public MeshMessage transform(MeshMessage message) {
    return message;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public byte systemCodecID() {
    return -1;
  }
}
