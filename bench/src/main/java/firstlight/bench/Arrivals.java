package firstlight.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** When clients come who do not wait for each other: a Poisson process. */
final class Arrivals {
  private Arrivals() {}

  /**
   * Milliseconds from the start, ascending.
   *
   * @param perSecond how many come on average
   */
  static List<Long> of(double perSecond, int seconds, RandomGenerator random) {
    List<Long> arrivals = new ArrayList<>();
    double at = pause(perSecond, random);
    while (at < seconds) {
      arrivals.add(Math.round(at * 1_000));
      at += pause(perSecond, random);
    }
    return arrivals;
  }

  private static double pause(double perSecond, RandomGenerator random) {
    return random.nextExponential() / perSecond;
  }
}
