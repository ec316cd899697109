package firstlight.edge;

import firstlight.protocol.ReplicaId;
import firstlight.protocol.ReplicaReport;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientOptions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** The replicas known, each with the stream to it, from its first report until it expires. */
final class ReplicaLinks {
  /** A replica splits what it says below this; what an edge says fits as well. */
  static final int MESSAGE_BYTES_MAX = 16 << 20;

  private static final int STREAM_WINDOW_BYTES = 4 << 20;

  private final Vertx vertx;
  private final Replicas replicas;
  private final String edge;
  private final GrpcClient client;
  private final Map<ReplicaId, ReplicaLink> links = new HashMap<>();
  private boolean closed;

  ReplicaLinks(Vertx vertx, Replicas replicas, String edge) {
    this.vertx = vertx;
    this.replicas = replicas;
    this.edge = edge;
    this.client =
        GrpcClient.client(
            vertx,
            new GrpcClientOptions().setMaxMessageSize(MESSAGE_BYTES_MAX),
            new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setHttp2ClearTextUpgrade(false)
                .setHttp2ConnectionWindowSize(STREAM_WINDOW_BYTES)
                .setInitialSettings(new Http2Settings().setInitialWindowSize(STREAM_WINDOW_BYTES))
                .setConnectTimeout(1_000)
                .setTcpNoDelay(true));
  }

  void heard(ReplicaReport report) {
    if (closed) {
      return;
    }
    replicas.heard(report);
    ReplicaLink link = links.get(report.replica());
    if (link != null && !link.leadsTo(report)) {
      links.remove(report.replica()).close();
      link = null;
    }
    if (link == null) {
      links.put(report.replica(), new ReplicaLink(vertx, client, report, edge));
    }
  }

  /** To be called several times a second: replicas that have gone silent fail their generations. */
  void expire() {
    for (ReplicaId gone : replicas.expire()) {
      ReplicaLink link = links.remove(gone);
      if (link != null) {
        link.close();
      }
    }
  }

  Replicas replicas() {
    return replicas;
  }

  Optional<ReplicaLink> link(ReplicaId replica) {
    return Optional.ofNullable(links.get(replica));
  }

  /**
   * The best replica for work on that model.
   *
   * @param allowed whether a replica may be chosen
   */
  Optional<ReplicaReport> place(String model, Placement.Need need, Predicate<ReplicaId> allowed) {
    return Placement.choose(
        replicas.of(model),
        need,
        report ->
            allowed.test(report.replica())
                && link(report.replica()).filter(ReplicaLink::usable).isPresent());
  }

  /** Whether work on that model could be placed right now. */
  boolean ready(String model) {
    return place(model, new Placement.Need(1, null), _ -> true).isPresent();
  }

  Future<Void> close() {
    closed = true;
    List<ReplicaLink> all = List.copyOf(links.values());
    links.clear();
    all.forEach(ReplicaLink::close);
    return client.close();
  }
}
