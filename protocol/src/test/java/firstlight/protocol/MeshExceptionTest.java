package firstlight.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import org.junit.jupiter.api.Test;

class MeshExceptionTest {
  @Test
  void a_failure_crosses_the_bus_with_its_kind_code_and_message() {
    MeshException sent =
        new MeshException(
            FailureKind.NOT_FOUND, "previous_response_not_found", "There is\nnone.", null, 1_500);
    MeshException received = MeshException.fromReply(sent.toReply());
    assertThat(received.kind()).isEqualTo(FailureKind.NOT_FOUND);
    assertThat(received.code()).isEqualTo("previous_response_not_found");
    assertThat(received).hasMessage("There is\nnone.");
    assertThat(received.retryAfterMillis()).isEqualTo(1_500);
  }

  @Test
  void a_silent_receiver_is_away_and_nothing_of_ours_is_told() {
    MeshException failure =
        MeshException.fromReply(
            new ReplyException(ReplyFailure.NO_HANDLERS, "No handlers for address secret"));
    assertThat(failure.kind()).isEqualTo(FailureKind.UNAVAILABLE);
    assertThat(failure.getMessage()).doesNotContain("secret");
    assertThat(MeshException.fromReply(new IllegalStateException("secret")).getMessage())
        .doesNotContain("secret");
  }

  @Test
  void a_strange_failure_code_is_not_trusted() {
    MeshException failure =
        MeshException.fromReply(new ReplyException(ReplyFailure.RECIPIENT_FAILURE, 99, "x"));
    assertThat(failure.kind()).isEqualTo(FailureKind.UNAVAILABLE);
  }
}
