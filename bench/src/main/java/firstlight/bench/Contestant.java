package firstlight.bench;

import java.util.Map;

/** One of those that are compared: it can be measured again and again. */
interface Contestant {
  String name();

  /** Measures once. Names of figures are the same each time. */
  Map<String, Double> measure();
}
