package firstlight.app;

import firstlight.protocol.Settings;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/**
 * How many verticles of each role a node has; of gpu and batcher, for each model.
 *
 * @param given the numbers that the configuration gives; the others go by what the node has
 */
record Instances(Map<Role, Integer> given) {
  private static final int MAX = 64;

  /** The roles whose numbers go by the devices where nobody gives them. */
  private static final Set<Role> BY_DEVICES = Set.of(Role.GPU, Role.BATCHER);

  Instances {
    given = Map.copyOf(given);
  }

  /** Reads the section {@code node.instances}; mistakes are noted in the settings. */
  static Instances read(Settings section) {
    Map<Role, Integer> given = new EnumMap<>(Role.class);
    for (Role role : Role.values()) {
      if (BY_DEVICES.contains(role)) {
        OptionalInt number = section.integerOrAuto(role.word(), 1, MAX);
        number.ifPresent(count -> given.put(role, count));
      } else {
        given.put(role, section.integer(role.word(), 1, 1, MAX));
      }
    }
    section.done();
    return new Instances(given);
  }

  /**
   * The number of a role that the node has. A replica is one batcher with one device, so there is a
   * gpu verticle for each device, and a batcher for each of those. A node without devices does not
   * know how many others have.
   *
   * @param roles of the node
   * @param devices that are dealt out on it
   */
  int of(Role role, Set<Role> roles, int devices) {
    Integer number = given.get(role);
    if (number != null) {
      return number;
    }
    return switch (role) {
      case GPU -> devices;
      case BATCHER -> roles.contains(Role.GPU) ? of(Role.GPU, roles, devices) : 1;
      case SESSION, FEEDBACK, EDGE -> 1;
    };
  }
}
