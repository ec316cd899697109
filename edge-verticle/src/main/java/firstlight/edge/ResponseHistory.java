package firstlight.edge;

import firstlight.protocol.StoredTurn;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The turns that a new one builds on.
 *
 * @param stored those that the session verticle has, oldest first
 * @param kept those after them that only a connection remembers, oldest first
 */
record ResponseHistory(List<StoredTurn> stored, List<StoredTurn> kept) {
  static final ResponseHistory NONE = new ResponseHistory(List.of(), List.of());

  ResponseHistory {
    stored = List.copyOf(stored);
    kept = List.copyOf(kept);
  }

  /** Oldest first. */
  List<StoredTurn> turns() {
    return Stream.concat(stored.stream(), kept.stream()).toList();
  }

  /** The history of whoever builds on the turn, which is in the store. */
  ResponseHistory withStored(StoredTurn turn) {
    return new ResponseHistory(with(stored, turn), List.of());
  }

  /** The history of whoever builds on the turn, which nobody else has. */
  ResponseHistory withKept(StoredTurn turn) {
    return new ResponseHistory(stored, with(kept, turn));
  }

  /** Characters of Items that are held here only. */
  long keptCharacters() {
    return kept.stream().mapToLong(turn -> turn.input().length() + turn.output().length()).sum();
  }

  private static List<StoredTurn> with(List<StoredTurn> turns, StoredTurn turn) {
    List<StoredTurn> all = new ArrayList<>(turns);
    all.add(turn);
    return all;
  }
}
