package firstlight.edge;

import io.vertx.core.http.HttpServerResponse;
import java.util.List;
import java.util.stream.Collectors;

/** Tells a client which fields of its request had no effect. */
final class IgnoredFields {
  static final String HEADER = "x-firstlight-ignored-fields";

  private static final int NAMES_MAX = 20;

  private IgnoredFields() {}

  /** Lists the names in a header, cut and made safe; nothing when there are none. */
  static void tell(HttpServerResponse response, List<String> names) {
    if (!names.isEmpty()) {
      response.putHeader(
          HEADER,
          names.stream()
              .limit(NAMES_MAX)
              .map(EdgeModels::shown)
              .map(name -> name.replaceAll("[^A-Za-z0-9_.-]", "?"))
              .collect(Collectors.joining(", ")));
    }
  }
}
