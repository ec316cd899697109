package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CharacterSetTest {
  private static final int LOW_SURROGATE = 0xD800;

  @Test
  void sets_are_united_cut_and_turned_around() {
    CharacterSet letters = CharacterSet.range('a', 'm').union(CharacterSet.range('n', 'z'));
    assertThat(letters).isEqualTo(CharacterSet.range('a', 'z'));
    assertThat(letters.without(CharacterSet.of("xa")).ranges())
        .containsExactly(new CharacterSet.Range('b', 'w'), new CharacterSet.Range('y', 'z'));
    assertThat(letters.complement().complement()).isEqualTo(letters);
    assertThat(letters.intersection(letters.complement()).isEmpty()).isTrue();
  }

  @Test
  void halves_of_surrogate_pairs_are_in_no_set() {
    assertThat(CharacterSet.ALL.contains(LOW_SURROGATE)).isFalse();
    assertThat(CharacterSet.range(0xD000, 0xE000).contains(0xDFFF)).isFalse();
    assertThat(CharacterSet.of(LOW_SURROGATE).isEmpty()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void byte_ranges_take_exactly_the_characters(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] bounds = random.ints(4, 0, CharacterSet.MAX + 1).sorted().toArray();
    CharacterSet set =
        CharacterSet.range(bounds[0] >> 10, bounds[1] >> 10)
            .union(CharacterSet.range(bounds[2], bounds[3]));
    Grammar grammar = Grammar.of(new GrammarNode.Character(set));
    IntStream near =
        IntStream.of(
            0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, CharacterSet.MAX);
    IntStream edges =
        set.ranges().stream()
            .flatMapToInt(r -> IntStream.of(r.from() - 1, r.from(), r.to(), r.to() + 1));
    IntStream.concat(IntStream.concat(near, edges), random.ints(300, 0, CharacterSet.MAX + 1))
        .filter(c -> c >= 0 && c <= CharacterSet.MAX && !(c >= 0xD800 && c <= 0xDFFF))
        .forEach(
            c ->
                assertThat(GrammarTest.matches(grammar, Character.toString(c)))
                    .as("seed %d, U+%X", seed, c)
                    .isEqualTo(set.contains(c)));
  }

  @Test
  void bytes_that_are_no_character_are_not_taken() {
    AutomatonBuilder builder =
        new AutomatonBuilder(Grammar.of(new GrammarNode.Character(CharacterSet.ALL)));
    for (List<Integer> bytes :
        List.of(List.of(0x80), List.of(0xC0, 0x80), List.of(0xED, 0xA0, 0x80), List.of(0xF5))) {
      Matcher matcher = new Matcher(builder.automaton());
      MatchState state = matcher.start(0);
      for (int value : bytes) {
        state = matcher.next(state, value);
      }
      assertThat(state.isDead()).as("%s", bytes).isTrue();
    }
  }
}
