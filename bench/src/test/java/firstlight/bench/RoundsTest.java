package firstlight.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.protocol.Time;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoundsTest {
  private static final Progress SILENT =
      new Progress(new PrintStream(OutputStream.nullOutputStream()), Time.system());

  @Test
  void every_other_round_has_the_opposite_order() {
    assertThat(Rounds.order(List.of("a", "b", "c"), 1)).containsExactly("a", "b", "c");
    assertThat(Rounds.order(List.of("a", "b", "c"), 2)).containsExactly("c", "b", "a");
    assertThat(Rounds.order(List.of("a", "b", "c"), 3)).containsExactly("a", "b", "c");
  }

  /** A machine on which others use what the test says, second by second. */
  private static final class Machine {
    private final Deque<Double> foreignCores = new ArrayDeque<>();
    private long seconds;
    private double ticks;

    Machine(Double... foreignCores) {
      this.foreignCores.addAll(List.of(foreignCores));
    }

    void second() {
      seconds++;
      ticks += 100 * (foreignCores.isEmpty() ? 0 : foreignCores.removeFirst());
    }

    Quiet quiet(int patienceSeconds) {
      return new Quiet(
          0.1,
          patienceSeconds,
          () -> new CpuTimes(Math.round(ticks), 0, seconds * 1_000_000_000),
          this::second,
          SILENT);
    }

    /** Measuring takes a second; the figure is how often it was measured. */
    Contestant contestant() {
      return new Contestant() {
        private double measured;

        @Override
        public String name() {
          return "one";
        }

        @Override
        public Map<String, Double> measure() {
          second();
          return Map.of("measured", ++measured);
        }
      };
    }
  }

  @Test
  void a_disturbed_measurement_is_repeated() {
    // One second before each measurement is looked at as well.
    Machine machine = new Machine(0.0, 1.0, 0.0, 0.05);
    List<Round> rounds =
        new Rounds(1, machine.quiet(0), SILENT).measure(List.of(machine.contestant()), _ -> {});
    assertThat(rounds).hasSize(1);
    assertThat(rounds.getFirst().figures()).containsEntry("measured", 2.0);
    assertThat(rounds.getFirst().disturbed()).isFalse();
  }

  @Test
  void one_that_is_always_disturbed_counts_and_says_so() {
    Machine machine = new Machine(0.0, 1.0, 0.0, 0.5, 0.0, 0.0);
    List<Round> rounds =
        new Rounds(1, machine.quiet(0), SILENT).measure(List.of(machine.contestant()), _ -> {});
    assertThat(rounds.getFirst().disturbed()).isTrue();
    assertThat(rounds.getFirst().foreignCores()).isEqualTo(0.5);
    assertThat(Report.disturbances(rounds)).startsWith("1 of 1 measurements were disturbed");
  }

  @Test
  void a_measurement_waits_for_the_machine_to_be_quiet() {
    Machine machine = new Machine(1.0, 1.0, 0.0, 0.0, 9.0);
    List<Round> rounds =
        new Rounds(1, machine.quiet(5), SILENT).measure(List.of(machine.contestant()), _ -> {});
    assertThat(rounds.getFirst().disturbed()).isFalse();
    assertThat(rounds.getFirst().figures()).containsEntry("measured", 1.0);
  }

  /** Interrupted in its third measurement, a benchmark has kept two. */
  @Test
  void a_benchmark_that_is_cut_off_keeps_what_it_has(@TempDir Path folder) throws Exception {
    Machine machine = new Machine();
    Contestant two = machine.contestant();
    Contestant cut =
        new Contestant() {
          @Override
          public String name() {
            return "cut";
          }

          @Override
          public Map<String, Double> measure() {
            if (two.measure().get("measured") == 3) {
              throw new BenchFailure("cut off");
            }
            return Map.of("measured", 1.0);
          }
        };
    Path file = folder.resolve("some.json");

    assertThatThrownBy(
            () ->
                new Rounds(5, machine.quiet(0), SILENT)
                    .measure(
                        List.of(cut),
                        rounds -> new Report("some", 0).with("rounds", rounds).write(file)))
        .isInstanceOf(BenchFailure.class);

    JsonNode kept = new ObjectMapper().readTree(file.toFile()).get("rounds");
    assertThat(kept).extracting(round -> round.get("number").asInt()).containsExactly(1, 2);
    assertThat(kept.get(1).at("/figures/measured").asDouble()).isEqualTo(1.0);
    try (var files = Files.list(folder)) {
      assertThat(files).containsExactly(file);
    }
  }
}
