package firstlight.app;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** What a node does in the mesh. They are started in this order and stopped in the opposite one. */
enum Role {
  GPU,
  BATCHER,
  SESSION,
  FEEDBACK,
  EDGE;

  /**
   * @throws StartFailure naming the roles there are
   */
  static Role of(String word) {
    return Arrays.stream(values())
        .filter(role -> role.word().equals(word.trim()))
        .findFirst()
        .orElseThrow(
            () -> new StartFailure("\"%s\" is not a role; there are %s".formatted(word, all())));
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  static String all() {
    return Arrays.stream(values()).map(Role::word).collect(Collectors.joining(", "));
  }
}
