package firstlight.edge;

import firstlight.protocol.wire.Event;
import firstlight.protocol.wire.Failure;
import firstlight.protocol.wire.Generation;
import firstlight.protocol.wire.ResponseFinished;
import java.util.Random;

/** Events that no compression makes small. */
final class SpoolSamples {
  private SpoolSamples() {}

  static Event incompressible(int id, int traceBytes, int textBytes) {
    Random random = new Random(id);
    Generation.Builder generation = Generation.newBuilder();
    for (int i = 0; i < traceBytes / 4; i++) {
      generation.addTokenLogprobs(random.nextFloat());
    }
    return Event.newBuilder()
        .setId(Integer.toString(id))
        .setTime(id)
        .setResponse(
            ResponseFinished.newBuilder()
                .setResponseId("resp_" + id)
                .setOutput(text(random, textBytes))
                .addGenerations(generation))
        .build();
  }

  static Event largeError(int id, int bytes) {
    return Event.newBuilder()
        .setId(Integer.toString(id))
        .setTime(id)
        .setError(Failure.newBuilder().setMessage(text(new Random(id), bytes)))
        .build();
  }

  private static String text(Random random, int bytes) {
    return random
        .ints(bytes, ' ', 127)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
