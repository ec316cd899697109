package firstlight.batcher;

import firstlight.batcher.Sequence.State;
import firstlight.protocol.Priority;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The prompts that could go into a Step, of one lane, looked through once a Step. The first of them
 * is: of the priority whose turn it is; one that was preempted or comes from a lost replica; one of
 * the tenant that was served the least; the one that arrived first.
 */
final class PrefillLane {
  private static final Comparator<Sequence> ARRIVAL = Comparator.comparingLong(Sequence::arrival);

  private static final Comparator<Sequence> ORDER =
      Comparator.<Sequence>comparingLong(sequence -> sequence.share().rank())
          .thenComparing(ARRIVAL);

  private final PriorityTurns turns = new PriorityTurns();
  private final Map<Priority, Contenders> priorities = new EnumMap<>(Priority.class);

  /** Those of one priority. */
  private static final class Contenders {
    final PriorityQueue<Sequence> preempted = new PriorityQueue<>(ARRIVAL);
    final Map<TenantShare, PriorityQueue<Sequence>> tenants = new LinkedHashMap<>();

    PriorityQueue<Sequence> of(Sequence sequence) {
      return sequence.preempted()
          ? preempted
          : tenants.computeIfAbsent(sequence.share(), _ -> new PriorityQueue<>(ARRIVAL));
    }

    @Nullable Sequence first() {
      Sequence first = preempted.peek();
      if (first != null) {
        return first;
      }
      for (PriorityQueue<Sequence> tenant : tenants.values()) {
        Sequence next = tenant.peek();
        if (next != null && (first == null || ORDER.compare(next, first) < 0)) {
          first = next;
        }
      }
      return first;
    }

    void remove(Sequence first) {
      // It may have begun meanwhile, and is not a preempted one any more.
      if (!preempted.remove(first)) {
        of(first).remove(first);
      }
    }

    void keepRunning() {
      preempted.clear();
      tenants.values().forEach(tenant -> tenant.removeIf(one -> one.state() == State.WAITING));
    }
  }

  /** A new Step begins. */
  void clear() {
    priorities.clear();
  }

  void add(Sequence sequence) {
    priorities
        .computeIfAbsent(sequence.priority(), _ -> new Contenders())
        .of(sequence)
        .add(sequence);
  }

  boolean isEmpty() {
    return priorities.isEmpty();
  }

  /** Whose turn it is; it stays until it is taken away. */
  @Nullable Sequence first() {
    Contenders next = isEmpty() ? null : priorities.get(turns.next(priorities.keySet()));
    return next == null ? null : next.first();
  }

  /** The first one has nothing more to do in this Step. */
  void remove(Sequence first) {
    Contenders of = priorities.get(first.priority());
    if (of != null) {
      of.remove(first);
      dropEmpty();
    }
  }

  /** Those that wait can not begin in this Step. */
  void close() {
    priorities.values().forEach(Contenders::keepRunning);
    dropEmpty();
  }

  private void dropEmpty() {
    priorities.values().removeIf(of -> of.first() == null);
  }

  /** Tokens of the first one go into the Step. */
  void served(Sequence first, int tokens) {
    turns.served(first.priority(), tokens, priorities.keySet());
  }
}
