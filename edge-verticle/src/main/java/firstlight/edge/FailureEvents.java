package firstlight.edge;

import firstlight.protocol.Event;
import firstlight.protocol.EventWire;
import firstlight.protocol.MeshException;
import firstlight.protocol.NodeId;
import firstlight.protocol.TenantId;
import firstlight.protocol.TextPolicy;
import firstlight.protocol.Time;
import io.vertx.ext.web.RoutingContext;
import java.util.List;

/** Tells of failures that are no turn's: of a turn's, {@link TurnFacts} tells. */
final class FailureEvents {
  private static final String KEY = FailureEvents.class.getName();
  private static final int WEIGHT_BYTES = 1_024;

  private final Events events;
  private final EdgeMetrics metrics;
  private final EdgeConfig config;
  private final NodeId node;
  private final Time time;
  private final TextKeeper keeper;

  FailureEvents(Events events, EdgeMetrics metrics, EdgeConfig config, NodeId node, Time time) {
    this.events = events;
    this.metrics = metrics;
    this.config = config;
    this.node = node;
    this.time = time;
    this.keeper = new TextKeeper(config.texts());
  }

  /** For requests that fail without a turn. */
  void keepIn(RoutingContext http) {
    http.put(KEY, this);
  }

  /** A request is answered with a failure that is no turn's. */
  static void answered(RoutingContext http, MeshException failure) {
    FailureEvents events = http.get(KEY);
    if (events != null) {
      Caller caller = Caller.of(http);
      events.seen(
          caller.tenant(),
          FailureFacts.Failed.before(caller, Gate.route(http.request()), "", ""),
          failure);
    }
  }

  /** A request has failed. Nothing comes of a mistake of its client. */
  void seen(TenantId tenant, FailureFacts.Failed failed, MeshException failure) {
    if (FailureFacts.isTold(failure)) {
      metrics.error(failure);
      events.publish(
          new Draft(
              tenant,
              failed,
              failure,
              config.text(tenant, true),
              node,
              time.epochMillis(),
              keeper));
    }
  }

  private record Draft(
      TenantId tenant,
      FailureFacts.Failed failed,
      MeshException failure,
      TextPolicy policy,
      NodeId node,
      long time,
      TextKeeper keeper)
      implements EventDraft {
    @Override
    public Importance importance() {
      return Importance.FACT;
    }

    @Override
    public int weight() {
      return WEIGHT_BYTES;
    }

    @Override
    public List<firstlight.protocol.wire.Event> build() {
      String message = keeper.keep(tenant, policy, failure.getMessage()).text();
      String id = Event.idOf(tenant, FailureFacts.KIND, failed.fact());
      String session = failed.response().isEmpty() ? failed.request() : failed.response();
      return List.of(
          EventWire.of(
              new Event(
                  id, time, tenant, node, session, FailureFacts.body(failed, failure, message))));
    }
  }
}
