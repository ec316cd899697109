package firstlight.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WireCodecTest {
  @Test
  void a_message_inside_the_jvm_arrives_as_an_equal_one_and_not_as_the_same() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      WireCodec.register(vertx.eventBus());
      CompletableFuture<MeshMessage> arrived = new CompletableFuture<>();
      vertx.eventBus().<MeshMessage>consumer("here", m -> arrived.complete(m.body()));
      ClaimDevice sent = new ClaimDevice(new ReplicaId("r"));
      vertx.eventBus().send("here", sent);
      assertThat(arrived.get(10, TimeUnit.SECONDS)).isEqualTo(sent).isNotSameAs(sent);
    } finally {
      vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }
  }
}
