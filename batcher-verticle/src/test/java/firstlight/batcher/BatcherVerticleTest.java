package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatcherVerticleTest {
  private final TestReplica replica = new TestReplica();

  @AfterEach
  void stop() throws Exception {
    replica.close();
  }

  @Test
  void a_generation_streams_its_tokens_and_ends_once() throws Exception {
    replica.start(GlassDevice.of(64, 4, 32));
    TestEdge edge = replica.edge();
    GenerationSpec spec = Specs.of("g1", 10, 8);
    edge.submit(spec, 100);
    assertThat(edge.ending("g1").getReason()).isEqualTo(FinishReason.LENGTH.name());
    assertThat(edge.tokens("g1")).isEqualTo(Specs.alone(spec));
  }
}
