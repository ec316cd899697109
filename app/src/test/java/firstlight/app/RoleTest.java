package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RoleTest {
  @Test
  void roles_are_found_by_their_word() {
    for (Role role : Role.values()) {
      assertThat(Role.of(role.word())).isEqualTo(role);
    }
    assertThatThrownBy(() -> Role.of("edgy"))
        .hasMessage("\"edgy\" is not a role; there are gpu, batcher, session, feedback, edge");
  }
}
