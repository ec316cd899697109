package firstlight.protocol;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.EventBus;
import io.vertx.core.eventbus.MessageCodec;

/**
 * The event bus's codec for tests that want every message on the wire: also what stays inside the
 * JVM is encoded and decoded, so that no receiver ever shares an object with its sender.
 */
public final class WireCodec implements MessageCodec<MeshMessage, MeshMessage> {
  private static final String NAME = "wire";

  private final MeshCodec codec = MeshCodec.create();

  private WireCodec() {}

  /** Makes the bus carry {@link MeshMessage}s, in place of {@link MeshCodec#register}. */
  public static void register(EventBus bus) {
    bus.registerCodec(new WireCodec());
    bus.codecSelector(body -> body instanceof MeshMessage ? NAME : null);
  }

  @Override
  public void encodeToWire(Buffer buffer, MeshMessage message) {
    codec.encodeToWire(buffer, message);
  }

  @Override
  public MeshMessage decodeFromWire(int position, Buffer buffer) {
    return codec.decodeFromWire(position, buffer);
  }

  @Override
  public MeshMessage transform(MeshMessage message) {
    Buffer wire = Buffer.buffer();
    codec.encodeToWire(wire, message);
    return codec.decodeFromWire(0, wire);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public byte systemCodecID() {
    return -1;
  }
}
