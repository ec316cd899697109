package firstlight.bench;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/**
 * Takes a stream of server-sent events apart, however it is cut into pieces. Only the data of
 * events is told; comments and other fields are passed over.
 */
final class SseParser {
  private static final String DATA = "data:";

  private final int eventBytesMax;
  private final Consumer<String> events;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private final StringBuilder data = new StringBuilder();
  private boolean hasData;
  private boolean afterReturn;

  /**
   * @param eventBytesMax longest event, in bytes; a longer one is an {@link IllegalStateException}
   * @param events takes the data of each event
   */
  SseParser(int eventBytesMax, Consumer<String> events) {
    this.eventBytesMax = eventBytesMax;
    this.events = events;
  }

  void feed(byte[] bytes) {
    for (byte one : bytes) {
      boolean endsReturn = afterReturn && one == '\n';
      afterReturn = one == '\r';
      if (endsReturn) {
        continue; // The line ended with the return before it.
      }
      if (one == '\n' || one == '\r') {
        endLine(line.toString(StandardCharsets.UTF_8));
        line.reset();
      } else {
        line.write(one);
        if (line.size() + data.length() > eventBytesMax) {
          throw new IllegalStateException("an event is longer than " + eventBytesMax + " bytes");
        }
      }
    }
  }

  private void endLine(String text) {
    if (text.isEmpty()) {
      if (hasData) {
        events.accept(data.toString());
      }
      data.setLength(0);
      hasData = false;
    } else if (text.startsWith(DATA)) {
      String value = text.substring(DATA.length());
      data.append(hasData ? "\n" : "").append(value.startsWith(" ") ? value.substring(1) : value);
      hasData = true;
    }
  }
}
