package firstlight.batcher;

import firstlight.protocol.Addresses;
import firstlight.protocol.ClaimDevice;
import firstlight.protocol.DeviceClaimed;
import firstlight.protocol.FailureKind;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.MeshException;
import firstlight.protocol.MeshMessage;
import firstlight.protocol.NodeId;
import firstlight.protocol.RunStep;
import firstlight.protocol.ToDevice;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A gpu verticle's side of the event bus, with a glass device. */
final class FakeGpu {
  private final Vertx vertx;
  private final Context context;
  private final GlassDevice device;
  private final String address;
  private final List<MessageConsumer<MeshMessage>> consumers = new CopyOnWriteArrayList<>();
  private final List<Message<MeshMessage>> stuck = new ArrayList<>();
  private final CountDownLatch gotStuck = new CountDownLatch(1);
  private volatile boolean broken;
  private volatile boolean hanging;

  FakeGpu(Vertx vertx, GlassDevice device, String address) {
    this.vertx = vertx;
    this.context = vertx.getOrCreateContext();
    this.device = device;
    this.address = address;
  }

  /** Answers at the address of that node, or of the model where there is no node. */
  void serve(NodeId node) {
    consume(Addresses.deviceOn(node, device.capacity().model()));
    consume(address);
  }

  void serveAnybody() {
    consume(Addresses.deviceOf(device.capacity().model()));
    consume(address);
  }

  private void consume(String at) {
    // All on one context: a device does one thing at a time.
    context.runOnContext(_ -> consumers.add(vertx.eventBus().consumer(at, this::receive)));
  }

  private void receive(Message<MeshMessage> message) {
    switch ((ToDevice) message.body()) {
      case ClaimDevice _ -> message.reply(new DeviceClaimed(address, device.capacity()));
      case RunStep step -> {
        if (broken) {
          MeshException lost =
              new MeshException(FailureKind.DEVICE_LOST, "device_lost", "The device is gone.");
          message.fail(lost.kind().ordinal(), lost.toReply().getMessage());
        } else if (hanging) {
          stuck.add(message);
          gotStuck.countDown();
        } else {
          message.reply(device.run(step));
        }
      }
    }
  }

  /** Steps fail from now on, or work again. */
  void broken(boolean now) {
    broken = now;
  }

  /** Steps are kept without an answer from now on, or answered at last. */
  void hanging(boolean now) {
    hanging = now;
    if (!now) {
      context.runOnContext(
          _ -> {
            stuck.forEach(message -> message.reply(device.run((RunStep) message.body())));
            stuck.clear();
          });
    }
  }

  /** Waits until a Step is kept. */
  void awaitStuck() throws InterruptedException {
    if (!gotStuck.await(10, TimeUnit.SECONDS)) {
      throw new AssertionError("no Step came");
    }
  }

  /** It is not there any more. */
  Future<?> leave() {
    return Future.join(consumers.stream().map(MessageConsumer::unregister).toList());
  }
}
