package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrorsTest {
  @ParameterizedTest
  @CsvSource({
    "INVALID_REQUEST, 400, invalid_request_error",
    "UNAUTHENTICATED, 401, invalid_request_error",
    "NOT_FOUND, 404, invalid_request_error",
    "CONFLICT, 409, invalid_request_error",
    "TOO_LARGE, 413, invalid_request_error",
    "UNSUPPORTED_MEDIA_TYPE, 415, invalid_request_error",
    "TENANT_LIMIT, 429, rate_limit_error",
    "OVERLOADED, 429, rate_limit_error",
    "UNAVAILABLE, 503, server_error",
    "DEVICE_LOST, 503, server_error",
    "INTERNAL, 500, server_error"
  })
  void every_kind_has_one_status_and_one_type(FailureKind kind, int status, String type) {
    MeshException failure = new MeshException(kind, "code", "message", "param", 0);

    assertThat(Errors.status(failure)).isEqualTo(status);
    assertThat(Json.text(Errors.body(failure)))
        .isEqualTo(
            "{'error':{'message':'message','type':'%s','param':'param','code':'code'}}"
                .formatted(type)
                .replace('\'', '"'));
  }

  @Test
  void a_mistake_of_ours_is_told_to_nobody() {
    MeshException told =
        Errors.tellable(new IllegalStateException("/home/secret java.lang.Something"));

    assertThat(told.kind()).isEqualTo(FailureKind.INTERNAL);
    assertThat(told.getMessage()).doesNotContain("secret", "java");
  }
}
