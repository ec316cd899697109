package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationId;
import firstlight.protocol.MeshException;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Usage;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.ReplicaFrame;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FramesTest {
  private static Outcome.Emitted emitted(int id, byte[] text) {
    SampledToken token = new SampledToken(id, -1, IntStream.range(0, 20).toArray(), new float[20]);
    return new Outcome.Emitted(
        new GenerationId("g" + id), List.of(token), text, 3, id == 0, 16, 250);
  }

  @Test
  void nothing_gives_no_frame() {
    assertThat(new Frames(1, 1000).build()).isEmpty();
  }

  @Test
  void everything_of_a_step_goes_into_one_frame() {
    Frames frames = new Frames(7, 100_000);
    GenerationId id = new GenerationId("g0");
    frames.add(emitted(0, new byte[] {65}));
    frames.add(new Outcome.Ended(id, FinishReason.STOP, new Usage(20, 16, 4), new byte[] {66}));
    frames.add(
        new Outcome.Refused(
            new GenerationId("r"),
            new MeshException(FailureKind.OVERLOADED, "overloaded", "Full.", null, 1500)));
    ReplicaFrame frame = frames.build().getFirst();
    assertThat(frame.getStep()).isEqualTo(7);
    Emission emission = frame.getEmissions(0);
    assertThat(emission.getTokens(0).getTopIdsCount()).isEqualTo(20);
    assertThat(emission.getText().toStringUtf8()).isEqualTo("A");
    assertThat(emission.getPosition()).isEqualTo(3);
    assertThat(emission.getCached()).isEqualTo(16);
    assertThat(emission.getQueuedMs()).isEqualTo(250);
    assertThat(frame.getEndings(0).getReason()).isEqualTo("STOP");
    assertThat(frame.getEndings(0).getOutputTokens()).isEqualTo(4);
    assertThat(frame.getEndings(0).getCachedTokens()).isEqualTo(16);
    assertThat(frame.getEndings(0).getStop().toStringUtf8()).isEqualTo("B");
    assertThat(frame.getRefusals(0).getRetryAfterMs()).isEqualTo(1500);
    assertThat(frame.getRefusals(0).getKind()).isEqualTo("OVERLOADED");
  }

  @Test
  void no_frame_is_above_the_limit_and_the_order_is_kept() {
    int max = 2_000;
    Frames frames = new Frames(Long.MAX_VALUE, max);
    for (int i = 0; i < 500; i++) {
      frames.add(emitted(i, new byte[i % 100]));
    }
    List<ReplicaFrame> built = frames.build();
    assertThat(built).allMatch(frame -> frame.getSerializedSize() <= max);
    // Splitting wastes little.
    assertThat(built.stream().limit(built.size() - 1))
        .allMatch(frame -> frame.getSerializedSize() > max - 300);
    assertThat(built.stream().flatMap(frame -> frame.getEmissionsList().stream()))
        .extracting(Emission::getGeneration)
        .containsExactlyElementsOf(IntStream.range(0, 500).mapToObj(i -> "g" + i).toList());
  }

  @Test
  void what_is_larger_than_a_frame_goes_alone() {
    Frames frames = new Frames(1, 1_000);
    frames.add(emitted(1, new byte[0]));
    frames.add(emitted(2, new byte[3_000]));
    frames.add(emitted(3, new byte[0]));
    assertThat(frames.build()).hasSize(3);
  }
}
