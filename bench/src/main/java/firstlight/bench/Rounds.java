package firstlight.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Measures contestants in turn, in the opposite order every other round, so that a machine that
 * changes speed changes it for all. A round that others disturbed is measured again.
 */
final class Rounds {
  /** Disturbed measurements that are repeated, for each round wanted. */
  private static final int REPEATS = 1;

  private final int wanted;
  private final Quiet quiet;
  private final Progress progress;
  private int repeatsLeft;

  Rounds(int wanted, Quiet quiet, Progress progress) {
    this.wanted = wanted;
    this.quiet = quiet;
    this.progress = progress;
    this.repeatsLeft = wanted * REPEATS;
  }

  /**
   * All rounds of all, in the order in which they were measured.
   *
   * @param kept is given those there are after each measurement
   */
  List<Round> measure(List<? extends Contestant> contestants, Consumer<List<Round>> kept) {
    List<Round> rounds = new ArrayList<>();
    for (int number = 1; number <= wanted; number++) {
      for (Contestant contestant : order(contestants, number)) {
        rounds.add(measure(contestant, number));
        kept.accept(List.copyOf(rounds));
      }
    }
    return rounds;
  }

  static <T> List<T> order(List<? extends T> contestants, int round) {
    return List.copyOf(round % 2 == 1 ? contestants : contestants.reversed());
  }

  private Round measure(Contestant contestant, int number) {
    while (true) {
      quiet.await();
      progress.say("round %d of %d: %s", number, wanted, contestant.name());
      CpuTimes before = quiet.now();
      Map<String, Double> figures = contestant.measure();
      double foreign = quiet.now().foreignCores(before);
      boolean disturbed = quiet.disturbs(foreign);
      if (!disturbed || repeatsLeft == 0) {
        if (disturbed) {
          progress.say("DISTURBED: others used %.2f cores; it counts all the same", foreign);
        }
        return new Round(contestant.name(), number, figures, foreign, disturbed);
      }
      repeatsLeft--;
      progress.say("DISTURBED: others used %.2f cores; measuring it again", foreign);
    }
  }
}
