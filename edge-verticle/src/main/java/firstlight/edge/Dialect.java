package firstlight.edge;

import io.vertx.ext.web.Router;

/** A way to speak to the service. All its routes are behind {@link Keys}. */
interface Dialect {
  void mount(Router router);
}
