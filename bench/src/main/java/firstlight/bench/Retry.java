package firstlight.bench;

import io.vertx.core.MultiMap;

/** When a refused client was told to come again. */
final class Retry {
  private Retry() {}

  /** {@code retry-after-ms}, otherwise {@code Retry-After} in seconds; -1 when neither says. */
  static long afterMillis(MultiMap headers) {
    long millis = number(headers.get("retry-after-ms"), 1);
    return millis >= 0 ? millis : number(headers.get("Retry-After"), 1_000);
  }

  private static long number(String text, long unit) {
    try {
      return text == null ? -1 : Math.round(Double.parseDouble(text.trim()) * unit);
    } catch (NumberFormatException _) {
      return -1; // A date: nobody here sends one.
    }
  }
}
