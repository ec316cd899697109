package firstlight.session;

import firstlight.protocol.ResponseId;
import firstlight.protocol.StoredTurn;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A tier in a map. It counts what it is asked, fails on demand, and can be made to wait. */
final class FakeTurnStore implements TurnStore {
  final Map<TurnKey, StoredTurn> turns = new LinkedHashMap<>();
  final List<String> calls = new ArrayList<>();
  @Nullable RuntimeException failure;
  @Nullable Promise<Void> gate;

  static FakeTurnStore of(List<StoredTurn> turns) {
    FakeTurnStore store = new FakeTurnStore();
    turns.forEach(turn -> store.turns.put(TurnKey.of(turn), turn));
    return store;
  }

  @Override
  public Future<List<StoredTurn>> chain(TurnKey newest, Allowance allowance) {
    calls.add("chain " + newest.response());
    return answer(
        () -> {
          List<StoredTurn> chain = new ArrayList<>();
          ResponseId next = newest.response();
          Allowance left = allowance;
          while (next != null && !left.usedUp()) {
            StoredTurn turn = turns.get(new TurnKey(newest.tenant(), next));
            if (turn == null) {
              break;
            }
            chain.add(turn);
            left = left.less(turn);
            next = turn.parent();
          }
          return chain;
        });
  }

  @Override
  public Future<Integer> keep(List<StoredTurn> added) {
    calls.add("keep " + added.stream().map(turn -> turn.response().value()).toList());
    return answer(
        () -> {
          int before = turns.size();
          added.forEach(turn -> turns.putIfAbsent(TurnKey.of(turn), turn));
          return turns.size() - before;
        });
  }

  @Override
  public Future<Boolean> forget(TurnKey key) {
    calls.add("forget " + key.response());
    return answer(() -> turns.remove(key) != null);
  }

  private <T> Future<T> answer(Supplier<T> answer) {
    if (failure != null) {
      return Future.failedFuture(failure);
    }
    T now = answer.get();
    return gate == null ? Future.succeededFuture(now) : gate.future().map(_ -> now);
  }
}
