package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** One thing that a client does which means no good, or is broken. */
abstract class HostileInput {
  /** What the server says of a mistake that nobody foresaw. */
  static final String MISTAKE = "internal_error";

  private static final Pattern STATUS = Pattern.compile("(?m)^HTTP/1\\.1 (\\d{3})");
  private static final int SHOWN_MAX = 4_000;

  /** All that came back, one character for each byte. */
  protected String heard = "";

  private final Enum<?> kind;
  private final ByteArrayOutputStream sent = new ByteArrayOutputStream();

  HostileInput(Enum<?> kind) {
    this.kind = kind;
  }

  /** Does it, and looks at what comes back. */
  abstract void send() throws Exception;

  final String kind() {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  /** Notes what is sent. */
  protected final byte[] noted(byte[] bytes) {
    sent.writeBytes(bytes);
    return bytes;
  }

  /** For the message of a failure. */
  @Override
  public final String toString() {
    String all = sent.toString(StandardCharsets.ISO_8859_1);
    return "%s%nsent: %s%nheard: %s".formatted(kind(), shown(all), shown(heard));
  }

  private static String shown(String bytes) {
    return bytes
        .substring(0, Math.min(SHOWN_MAX, bytes.length()))
        .replaceAll("[^\\n\\x20-\\x7e]", "?");
  }

  /** Refuses answers that are a failure of the server. */
  protected final void checkAnswers() {
    assertThat(heard).doesNotContain(MISTAKE);
    for (MatchResult status : STATUS.matcher(heard).results().toList()) {
      int code = Integer.parseInt(status.group(1));
      boolean full = code == 503 || code == 529;
      assertThat(code < 500 || full && heard.contains("retry-after-ms"))
          .as("a status of %d", code)
          .isTrue();
    }
  }
}
