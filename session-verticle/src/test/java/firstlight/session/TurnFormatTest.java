package firstlight.session;

import static firstlight.session.Samples.key;
import static firstlight.session.Samples.turn;
import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.StoredTurn;
import firstlight.protocol.Usage;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class TurnFormatTest {
  private static final TurnKey KEY = key("acme", "r2");
  private static final StoredTurn TURN = turn("acme", "r2", "r1", "[\"grün 🚀\\n\"]");

  @Test
  void every_component_comes_back() {
    StoredTurn turn =
        new StoredTurn(
            KEY.response(),
            KEY.tenant(),
            null,
            "m",
            Long.MAX_VALUE,
            "failed",
            "[1]",
            "[2]",
            "{}",
            new Usage(Integer.MAX_VALUE, 5, 6));
    assertThat(TurnFormat.turn(KEY, TurnFormat.bytes(turn))).contains(turn);
    assertThat(TurnFormat.turn(KEY, TurnFormat.bytes(TURN))).contains(TURN);
  }

  @Test
  void version_parent_and_size_stand_in_front_as_text() {
    String text = new String(TurnFormat.bytes(TURN), StandardCharsets.ISO_8859_1);
    assertThat(text).startsWith("1\nr1\n%d\n".formatted(Allowance.characters(TURN)));
  }

  @Test
  void it_is_little_longer_than_what_it_holds() {
    StoredTurn turn = turn("acme", "r2", "r1", "[\"" + "\\\"x".repeat(10_000) + "\"]");
    assertThat(TurnFormat.bytes(turn)).hasSizeLessThan(Allowance.characters(turn) + 100);
  }

  @Test
  void the_turn_of_another_tenant_or_id_is_not_taken() {
    byte[] bytes = TurnFormat.bytes(TURN);
    assertThat(TurnFormat.turn(key("other", "r2"), bytes)).isEmpty();
    assertThat(TurnFormat.turn(key("acme", "r3"), bytes)).isEmpty();
  }

  @Test
  void another_version_is_not_taken() {
    byte[] bytes = TurnFormat.bytes(TURN);
    bytes[0] = '2';
    assertThat(TurnFormat.turn(KEY, bytes)).isEmpty();
  }

  @Test
  void no_beginning_of_it_is_taken_for_the_whole() {
    byte[] bytes = TurnFormat.bytes(TURN);
    for (int length = 0; length < bytes.length; length++) {
      assertThat(TurnFormat.turn(KEY, Arrays.copyOf(bytes, length))).isEmpty();
    }
  }

  @Test
  void damaged_bytes_never_throw() {
    long seed = Long.getLong("seed", 4711);
    Random random = new Random(seed);
    for (int round = 0; round < 5_000; round++) {
      byte[] bytes = TurnFormat.bytes(TURN);
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
      try {
        TurnFormat.turn(KEY, bytes).ifPresent(turn -> assertThat(TurnKey.of(turn)).isEqualTo(KEY));
      } catch (RuntimeException e) {
        throw new AssertionError(
            "reproduce with: mvn test -pl session-verticle -Dtest=TurnFormatTest -Dseed=" + seed,
            e);
      }
    }
  }
}
