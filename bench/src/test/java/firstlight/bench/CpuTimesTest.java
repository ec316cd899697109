package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class CpuTimesTest {
  @Test
  void idle_and_waiting_time_is_not_busy_and_stolen_time_is() {
    assertThat(CpuTimes.busy(List.of("cpu  100 20 30 5000 700 1 2 40 9 9", "cpu0 1 1 1 1")))
        .isEqualTo(100 + 20 + 30 + 1 + 2 + 40);
  }

  @Test
  void a_process_counts_with_its_ended_children_whatever_its_name() {
    String line = "42 (a ) b) S 1 42 42 0 -1 4194560 10 20 30 40 500 60 7 8 20 0 1 0 99";
    assertThat(CpuTimes.processTime(line)).isEqualTo(500 + 60 + 7 + 8);
  }

  @Test
  void what_we_did_not_use_others_did() {
    CpuTimes before = new CpuTimes(1_000, 100, 0);
    CpuTimes after = new CpuTimes(1_000 + 300, 100 + 150, 1_000_000_000);
    assertThat(after.foreignCores(before)).isCloseTo(1.5, within(1e-9));
  }

  @Test
  void memory_is_read_in_kib() {
    List<String> lines = List.of("VmHWM:\t 2097152 kB", "VmRSS:\t 1048576 kB");
    assertThat(Memory.parse(lines)).isEqualTo(new Memory(1, 2));
  }
}
