package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import firstlight.protocol.FailureKind;
import firstlight.protocol.MeshException;
import java.util.List;
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
    "OVERLOADED, 503, server_error",
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

  @ParameterizedTest
  @CsvSource({
    "TENANT_LIMIT, 2500, 3, 2500",
    "OVERLOADED, 2500, 3, 2500",
    "OVERLOADED, 3000, 3, 3000",
    "OVERLOADED, 1, 1, 1",
    "UNAVAILABLE, 0, 1, 1000"
  })
  void an_event_says_when_to_come_again_as_headers_would(
      FailureKind kind, long millis, String seconds, String exact) {
    MeshException failure = new MeshException(kind, "code", "message", null, millis);

    for (JsonNode error :
        List.of(Errors.event(failure).get("error"), ResponseErrors.frame(failure).get("error"))) {
      assertThat(error.get("headers"))
          .isEqualTo(Json.object().put("Retry-After", seconds).put("retry-after-ms", exact));
    }
  }

  @Test
  void another_try_is_not_suggested_where_it_would_not_help() {
    MeshException failure = new MeshException(FailureKind.NOT_FOUND, "code", "message", null, 7);

    assertThat(Errors.event(failure)).isEqualTo(Errors.body(failure));
  }

  @Test
  void a_mistake_of_ours_is_told_to_nobody() {
    MeshException told =
        Errors.tellable(new IllegalStateException("/home/secret java.lang.Something"));

    assertThat(told.kind()).isEqualTo(FailureKind.INTERNAL);
    assertThat(told.getMessage()).doesNotContain("secret", "java");
  }
}
