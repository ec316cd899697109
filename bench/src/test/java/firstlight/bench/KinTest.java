package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class KinTest {
  private static boolean isKin(String environment) {
    return Kin.isKin(environment.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void a_process_is_known_by_the_whole_value_in_its_environment() {
    String ours = Kin.VARIABLE + "=" + Kin.value();
    assertThat(isKin("A=b\0" + ours + "\0C=d\0")).isTrue();
    assertThat(isKin("A=b\0" + ours + "1\0")).isFalse();
    assertThat(isKin("A=" + ours + "\0")).isFalse();
    assertThat(isKin("")).isFalse();
  }
}
