package firstlight.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdsTest {
  @Test
  void ids_do_not_repeat_and_are_valid() {
    IdSource ids = new IdSource(new Random(1));
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < 10_000; i++) {
      String id = ids.next("resp_");
      assertThat(seen.add(new ResponseId(id).value())).isTrue();
      assertThat(id).hasSize(30).startsWith("resp_");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "../x", "a/b", "a b", "a%00b", "'; drop table", "{{7*7}}", "*", "é"})
  void what_could_mean_something_elsewhere_is_no_id(String hostile) {
    assertThatThrownBy(() -> new ResponseId(hostile)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void an_id_has_a_largest_length() {
    new TenantId("x".repeat(128));
    assertThatThrownBy(() -> new TenantId("x".repeat(129)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
