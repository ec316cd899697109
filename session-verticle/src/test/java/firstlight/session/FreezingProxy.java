package firstlight.session;

import static firstlight.session.Wait.result;

import io.vertx.core.Vertx;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between a client and a server. Connections that it freezes stay open and carry nothing any
 * more, as when the other end has lost its power.
 */
final class FreezingProxy {
  private final NetServer server;
  private final NetClient client;
  private final Set<NetSocket> frozen = ConcurrentHashMap.newKeySet();
  private final Set<NetSocket> live = ConcurrentHashMap.newKeySet();
  private final AtomicInteger accepted = new AtomicInteger();
  private volatile boolean silent;

  FreezingProxy(Vertx vertx, int target) {
    client = vertx.createNetClient();
    server =
        vertx
            .createNetServer()
            .connectHandler(
                near -> {
                  accepted.incrementAndGet();
                  near.pause();
                  client
                      .connect(target, "127.0.0.1")
                      .onFailure(_ -> near.close())
                      .onSuccess(far -> join(near, far));
                });
    result(server.listen(0, "127.0.0.1"));
  }

  int port() {
    return server.actualPort();
  }

  /** All connections of this moment; later ones work. */
  void freeze() {
    frozen.addAll(live);
  }

  /** All connections of this moment and, until {@link #thaw}, later ones. */
  void freezeFromNowOn() {
    silent = true;
    freeze();
  }

  /** Connections made from now on work. */
  void thaw() {
    silent = false;
  }

  /** Connections that were tried. */
  int accepted() {
    return accepted.get();
  }

  private void join(NetSocket near, NetSocket far) {
    live.add(near);
    if (silent) {
      frozen.add(near);
    }
    near.handler(
        bytes -> {
          if (!frozen.contains(near)) {
            far.write(bytes);
          }
        });
    far.handler(
        bytes -> {
          if (!frozen.contains(near)) {
            near.write(bytes);
          }
        });
    near.closeHandler(_ -> far.close());
    far.closeHandler(
        _ -> {
          if (!frozen.contains(near)) {
            near.close();
          }
        });
    near.resume();
  }
}
