package firstlight.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One measurement of one contestant.
 *
 * @param number from 1
 * @param foreignCores what others used of the machine meanwhile
 * @param disturbed whether that was too much
 */
record Round(
    String contestant,
    int number,
    Map<String, Double> figures,
    double foreignCores,
    boolean disturbed) {

  /** What one contestant had over all rounds, by figure. */
  static Map<String, List<Double>> values(String contestant, List<Round> rounds) {
    Map<String, List<Double>> values = new LinkedHashMap<>();
    rounds.stream()
        .filter(round -> round.contestant.equals(contestant))
        .forEach(
            round ->
                round.figures.forEach(
                    (figure, value) ->
                        values.computeIfAbsent(figure, _ -> new ArrayList<>()).add(value)));
    return values;
  }
}
