package firstlight.session;

import static firstlight.session.Wait.failure;
import static firstlight.session.Wait.result;

import firstlight.protocol.Addresses;
import firstlight.protocol.DeleteTurn;
import firstlight.protocol.FindHistory;
import firstlight.protocol.FromSession;
import firstlight.protocol.History;
import firstlight.protocol.MeshCodec;
import firstlight.protocol.MeshException;
import firstlight.protocol.ResponseId;
import firstlight.protocol.StoreTurn;
import firstlight.protocol.StoredTurn;
import firstlight.protocol.TenantId;
import firstlight.protocol.Time;
import firstlight.protocol.ToSession;
import firstlight.protocol.TurnDeleted;
import firstlight.protocol.TurnStored;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;

/** Session verticles on an event bus of their own, and what an edge says to them. */
final class SessionMesh implements AutoCloseable {
  final Vertx vertx = Vertx.vertx();
  final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  SessionMesh() {
    MeshCodec.register(vertx.eventBus());
  }

  /** Adds verticles that share a memory, as those of one node do. */
  void addNode(SessionConfig config, int instances) {
    result(
        vertx.deployVerticle(
            SessionVerticle.instances(config, Time.system(), registry),
            new DeploymentOptions().setInstances(instances)));
  }

  Future<TurnStored> store(StoredTurn turn) {
    return ask(new StoreTurn(turn, null));
  }

  Future<History> find(String tenant, String response) {
    return ask(new FindHistory(new TenantId(tenant), new ResponseId(response)));
  }

  Future<TurnDeleted> delete(String tenant, String response) {
    return ask(new DeleteTurn(new TenantId(tenant), new ResponseId(response)));
  }

  List<StoredTurn> turns(String tenant, String response) {
    return result(find(tenant, response)).turns();
  }

  /** How the edge sees the failure. */
  static MeshException refusal(Future<?> answer) {
    return MeshException.fromReply(failure(answer));
  }

  double lookups(String tier, String outcome) {
    return registry
        .find("firstlight_session_lookups")
        .tags("tier", tier, "outcome", outcome)
        .counters()
        .stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  @Override
  public void close() {
    result(vertx.close());
  }

  <A extends FromSession> Future<A> ask(ToSession message) {
    return vertx.eventBus().<A>request(Addresses.SESSION, message).map(answer -> answer.body());
  }
}
