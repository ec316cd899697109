package firstlight.edge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.google.re2j.Pattern;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RedactorTest {
  private static final TextsConfig ALL =
      new TextsConfig(
          "",
          List.of(TextsConfig.Redaction.values()),
          Map.of("staff", Pattern.compile("EMP-[0-9]{6}")));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "use sk-proj-abcDEF0123456789xyz, please | use [redacted:secret], please",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345 | [redacted:secret]",
        "key=AKIAIOSFODNN7EXAMPLE. | key=[redacted:secret].",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl! | [redacted:secret]!",
        "-----BEGIN RSA PRIVATE KEY-----abc/+=-----END RSA PRIVATE KEY----- x | [redacted:secret]"
            + " x",
        "-----BEGIN PRIVATE KEY-----cut off | [redacted:secret]",
        "pay 4111 1111 1111 1111 now | pay [redacted:card] now",
        "4111-1111-1111-1111 and 378282246310005 | [redacted:card] and [redacted:card]",
        "write to ada.l+x@mail.example.org, then a@b | write to [redacted:email], then a@b",
        "EMP-123456 left | [redacted:staff] left",
      })
  void what_must_not_leave_is_taken_out(String text, String kept) {
    Redactor redactor = new Redactor(ALL);

    assertThat(redactor.redact(text)).isEqualTo(kept);
    assertThat(redactor.take()).isPositive();
    assertThat(redactor.take()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "the tasksk-0123456789abcdefgh of a word",
        "4111 1111 1111 1112 has a wrong check digit",
        "12345678901234567890123 is too long",
        "call 0611 234 567",
        "AKIAIOSFODNN7EXAMPLEX is one character too long",
        "sk-short and ask-me-anything-about-it",
        "@home and me@ and a@b.c",
      })
  void what_only_looks_like_it_stays(String text) {
    assertThat(new Redactor(ALL).redact(text)).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a",
        "a@",
        "1",
        "1 ",
        "sk-",
        "eyJaaaaaaaaa.",
        "-----BEGIN PRIVATE KEY-----",
        "EMP-"
      })
  void no_text_makes_it_slow(String part) {
    String text = part.repeat((1 << 20) / part.length());

    // Time that grew with the square of the length would be hours.
    assertTimeoutPreemptively(Duration.ofSeconds(20), () -> new Redactor(ALL).redact(text));
  }

  @Test
  void where_nothing_is_to_go_the_text_is_the_same_object() {
    Redactor redactor = new Redactor(new TextsConfig("", List.of(), Map.of()));
    String text = "sk-proj-abcDEF0123456789xyz";

    assertThat(redactor.redact(text)).isSameAs(text);
  }
}
