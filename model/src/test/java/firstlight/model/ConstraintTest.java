package firstlight.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Goal: the masks are right for every grammar, vocabulary and place. */
class ConstraintTest {
  private static final String JSON =
      """
      root ::= object
      value ::= object | array | string | number | "true" | "false" | "null"
      object ::= "{" (pair ("," pair)*)? "}"
      pair ::= string ":" value
      array ::= "[" (value ("," value)*)? "]"
      string ::= "\\"" ([^"\\\\\\x00-\\x1F] | "\\\\" ["\\\\/bfnrt])* "\\""
      number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)?
      """;

  private static final String ALPHABET = "{}[]:,\"\\an0é1-. €true";

  /** Random pieces of what could be JSON, single bytes, an empty one, and some twice. */
  private static byte[][] tokens(SplittableRandom random) {
    List<byte[]> tokens = new ArrayList<>();
    tokens.add(new byte[0]);
    for (int value = 0; value < 256; value++) {
      tokens.add(new byte[] {(byte) value});
    }
    byte[] alphabet = ALPHABET.repeat(2).getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 700; i++) {
      byte[] token = new byte[1 + random.nextInt(6)];
      for (int j = 0; j < token.length; j++) {
        token[j] = alphabet[random.nextInt(alphabet.length)];
      }
      tokens.add(token);
    }
    tokens.add("\":\"".getBytes(StandardCharsets.UTF_8));
    tokens.add("\":\"".getBytes(StandardCharsets.UTF_8));
    return tokens.toArray(byte[][]::new);
  }

  private static List<Integer> bits(long[] mask, int size) {
    List<Integer> ids = new ArrayList<>();
    for (int id = 0; id < size; id++) {
      if ((mask[id >> 6] >>> id & 1) != 0) {
        ids.add(id);
      }
    }
    return ids;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void a_token_is_in_the_mask_when_the_grammar_can_go_on_after_it(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    byte[][] tokens = tokens(random);
    Grammar grammar = Grammar.parse(JSON);
    // So little memory that it begins anew all the time.
    long memory = seed % 2 == 0 ? 1_000 : 1 << 20;
    Constraint constraint =
        Constraint.compile(
            grammar, TokenTrie.of(tokens.length, id -> tokens[id]), id -> tokens[id], memory);
    Constraint.State state = constraint.start();
    for (int step = 0; step < 60 && !state.isOver(); step++) {
      List<Integer> allowed = bits(constraint.mask(state), tokens.length);
      List<Integer> expected = new ArrayList<>();
      for (int id = 1; id < tokens.length; id++) {
        if (!constraint.next(state, id).isBroken()) {
          expected.add(id);
        }
      }
      assertThat(allowed).as("seed %d, step %d", seed, step).isEqualTo(expected);
      state = constraint.next(state, allowed.get(random.nextInt(allowed.size())));
    }
  }

  @Test
  void where_it_stands_is_a_function_of_the_tokens() {
    byte[][] tokens = tokens(new SplittableRandom(9));
    Constraint one = constraint(tokens);
    Constraint.State state = one.start();
    SplittableRandom random = new SplittableRandom(10);
    List<Integer> chosen = new ArrayList<>();
    for (int step = 0; step < 40 && !state.isOver(); step++) {
      List<Integer> allowed = bits(one.mask(state), tokens.length);
      chosen.add(allowed.get(random.nextInt(allowed.size())));
      state = one.next(state, chosen.getLast());
    }
    Constraint other = constraint(tokens);
    Constraint.State again = other.start();
    for (int token : chosen) {
      again = other.next(again, token);
    }
    assertThat(other.mask(again)).isEqualTo(one.mask(state));
  }

  private static Constraint constraint(byte[][] tokens) {
    return Constraint.compile(
        Grammar.parse(JSON),
        TokenTrie.of(tokens.length, id -> tokens[id]),
        id -> tokens[id],
        1 << 20);
  }

  @Test
  void a_token_without_bytes_changes_nothing() {
    byte[][] tokens = tokens(new SplittableRandom(1));
    Constraint constraint = constraint(tokens);
    assertThat(constraint.next(constraint.start(), 0)).isSameAs(constraint.start());
  }

  @Test
  void the_end_is_known() {
    byte[][] tokens = {"a".getBytes(StandardCharsets.UTF_8), "b".getBytes(StandardCharsets.UTF_8)};
    Constraint constraint =
        Constraint.compile(
            Grammar.parse("root ::= \"a\" \"b\"?"),
            TokenTrie.of(tokens.length, id -> tokens[id]),
            id -> tokens[id],
            1_000);
    Constraint.State a = constraint.next(constraint.start(), 0);
    assertThat(constraint.start().isComplete()).isFalse();
    assertThat(a.isComplete()).isTrue();
    assertThat(a.isOver()).isFalse();
    assertThat(constraint.next(a, 1).isOver()).isTrue();
    assertThat(constraint.next(a, 0).isBroken()).isTrue();
  }
}
