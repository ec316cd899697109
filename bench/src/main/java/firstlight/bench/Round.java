package firstlight.bench;

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
    boolean disturbed) {}
