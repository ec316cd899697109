package firstlight.app;

import static org.assertj.core.api.Assertions.assertThat;

import firstlight.protocol.Settings;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class InstancesTest {
  private static final Set<Role> ALL = EnumSet.allOf(Role.class);
  private static final Set<Role> COMPUTE = EnumSet.of(Role.GPU, Role.BATCHER);
  private static final int DEVICES = 4;

  private static Instances read(String yaml) {
    Settings settings = Settings.parse(yaml, _ -> null);
    Instances instances = Instances.read(settings);
    assertThat(settings.problems().found()).isEmpty();
    return instances;
  }

  private static List<Integer> of(Instances instances, Set<Role> roles, Role... which) {
    return Arrays.stream(which).map(role -> instances.of(role, roles, DEVICES)).toList();
  }

  @Test
  void there_is_a_replica_for_each_device_and_one_of_all_else() {
    assertThat(of(read(""), ALL, Role.values())).containsExactly(DEVICES, DEVICES, 1, 1, 1);
    assertThat(of(read(""), COMPUTE, Role.GPU, Role.BATCHER)).containsExactly(DEVICES, DEVICES);
    assertThat(of(read("gpu: auto"), COMPUTE, Role.GPU)).containsExactly(DEVICES);
  }

  @Test
  void batchers_are_as_many_as_the_devices_that_are_opened() {
    assertThat(of(read("gpu: 2"), ALL, Role.GPU, Role.BATCHER)).containsExactly(2, 2);
  }

  @Test
  void a_number_wins() {
    assertThat(of(read("batcher: 2"), ALL, Role.GPU, Role.BATCHER)).containsExactly(DEVICES, 2);
    assertThat(of(read("{gpu: 8, batcher: 1, edge: 3}"), ALL, Role.GPU, Role.BATCHER, Role.EDGE))
        .containsExactly(8, 1, 3);
  }

  @Test
  void a_node_of_batchers_alone_has_one() {
    Set<Role> batcher = EnumSet.of(Role.BATCHER);
    assertThat(of(read(""), batcher, Role.BATCHER)).containsExactly(1);
    assertThat(of(read("batcher: 4"), batcher, Role.BATCHER)).containsExactly(4);
  }
}
