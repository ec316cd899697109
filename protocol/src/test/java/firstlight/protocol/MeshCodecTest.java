package firstlight.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MeshCodecTest {
  private static final Sampling SAMPLING =
      new Sampling(0.5f, 40, 0.9f, 0.1f, 1.1f, 0.2f, -0.3f, new int[] {7}, new float[] {-1}, 42, 5);
  private static final StoredTurn TURN =
      new StoredTurn(
          new ResponseId("resp_2"),
          new TenantId("a"),
          new ResponseId("resp_1"),
          "m",
          1234,
          "completed",
          "[{\"text\":\"é\"}]",
          "[]",
          "{}",
          new Usage(10, 4, 3));
  private static final DeviceCapacity CAPACITY =
      new DeviceCapacity("m", 10, 16, 512, 8192, 49152, new Numerics("cpu", "q8", 256, "ab"));

  static Stream<MeshMessage> messages() {
    return Stream.of(
        new ClaimDevice(new ReplicaId("r")),
        new RunStep(
            3,
            List.of(
                new Slice(
                    new GenerationId("gen_1"),
                    new int[] {1, 2, 49151},
                    5,
                    new int[] {9, 0},
                    1,
                    SAMPLING,
                    6,
                    new int[] {4},
                    new long[][] {{1L << 63, 7}}))),
        new DeviceClaimed("firstlight.device.x", CAPACITY),
        new StepResult(
            3,
            List.of(
                new SliceResult(
                    new GenerationId("gen_1"),
                    List.of(
                        new SampledToken(
                            8, -0.25f, new int[] {8, 9}, new float[] {-0.25f, -1.5f})))),
            99),
        new FindHistory(new TenantId("a"), new ResponseId("resp_1")),
        new StoreTurn(
            TURN, new ConversationAppend(new ConversationId("conv_1"), new ResponseId("items_1"))),
        new CreateConversation(new TenantId("a"), new ConversationId("conv_1"), 5, "{}"),
        new FindConversation(new TenantId("a"), new ConversationId("conv_1")),
        new ChangeConversation(new TenantId("a"), new ConversationId("conv_1"), "{\"a\":\"b\"}"),
        new DeleteConversation(new TenantId("a"), new ConversationId("conv_1")),
        new AppendItems(new ConversationId("conv_1"), TURN),
        new RemoveItem(new TenantId("a"), new ConversationId("conv_1"), "msg_1"),
        new ConversationFound(
            new StoredConversation(
                new ConversationId("conv_1"),
                new TenantId("a"),
                5,
                "{}",
                new ResponseId("items_1"),
                List.of("msg_1"))),
        new ConversationDeleted(new ConversationId("conv_1")),
        new NoteFeedback(new TenantId("a"), "fb_1", "ab12", true),
        new FeedbackNoted("ab12", false),
        new DeleteTurn(new TenantId("a"), new ResponseId("resp_1")),
        new History(List.of(TURN)),
        new TurnStored(new ResponseId("resp_2")),
        new TurnDeleted(new ResponseId("resp_2")),
        new ReplicaReport(
            new ReplicaId("r"), new NodeId("n"), "127.0.0.1", 4444, CAPACITY, 1, 2, 3, 4L, true));
  }

  @ParameterizedTest
  @MethodSource("messages")
  void every_message_comes_back_as_it_went(MeshMessage message) {
    MeshCodec codec = MeshCodec.create();
    Buffer wire = Buffer.buffer("before");
    int position = wire.length();
    codec.encodeToWire(wire, message);
    MeshMessage back = codec.decodeFromWire(position, wire);
    assertThat(back).usingRecursiveComparison().isEqualTo(message);
    assertThat(codec.transform(message)).isSameAs(message);
  }

  @Test
  void there_is_a_message_of_every_kind_in_this_test() {
    long kinds =
        Stream.of(
                ToDevice.class, FromDevice.class, ToSession.class, FromSession.class, ToEdge.class)
            .mapToLong(MeshCodecTest::kinds)
            .sum();
    assertThat(messages().map(Object::getClass).distinct().count()).isEqualTo(kinds);
  }

  private static long kinds(Class<?> family) {
    return family.isSealed()
        ? Stream.of(family.getPermittedSubclasses()).mapToLong(MeshCodecTest::kinds).sum()
        : 1;
  }

  @Test
  void an_unknown_tag_is_refused() {
    Buffer wire = Buffer.buffer().appendByte((byte) 99).appendInt(0);
    assertThatThrownBy(() -> MeshCodec.create().decodeFromWire(0, wire))
        .hasMessageContaining("no message has the tag 99");
  }
}
