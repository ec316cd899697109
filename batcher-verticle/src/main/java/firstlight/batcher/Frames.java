package firstlight.batcher;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import firstlight.batcher.Outcome.Emitted;
import firstlight.batcher.Outcome.Ended;
import firstlight.batcher.Outcome.Refused;
import firstlight.protocol.MeshException;
import firstlight.protocol.SampledToken;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Ending;
import firstlight.protocol.wire.Refusal;
import firstlight.protocol.wire.ReplicaFrame;
import firstlight.protocol.wire.Token;
import java.util.ArrayList;
import java.util.List;

/** Packs what a Step brought into as few frames as the size limit allows, in order. */
final class Frames {
  /** The step's number, and the tag of each entry. */
  private static final int ENTRY_OVERHEAD = 1;

  private static final int FRAME_OVERHEAD = 16;

  private final long step;
  private final int bytesMax;
  private final List<ReplicaFrame> done = new ArrayList<>();
  private ReplicaFrame.Builder frame;
  private int size = FRAME_OVERHEAD;

  /**
   * @param step 0: no Step caused it
   */
  Frames(long step, int bytesMax) {
    this.step = step;
    this.bytesMax = bytesMax;
    this.frame = ReplicaFrame.newBuilder().setStep(step);
  }

  void add(Outcome outcome) {
    switch (outcome) {
      case Emitted emitted -> {
        Emission emission = emission(emitted);
        makeRoom(emission);
        frame.addEmissions(emission);
      }
      case Ended ended -> {
        Ending ending = ending(ended);
        makeRoom(ending);
        frame.addEndings(ending);
      }
      case Refused refused -> addRefusal(refused.generation().value(), refused.failure());
    }
  }

  /** Of a generation that may not even have a valid id. */
  void addRefusal(String generation, MeshException failure) {
    Refusal refusal =
        Refusal.newBuilder()
            .setGeneration(generation)
            .setKind(failure.kind().name())
            .setCode(failure.code())
            .setMessage(failure.getMessage())
            .setRetryAfterMs(failure.retryAfterMillis())
            .build();
    makeRoom(refusal);
    frame.addRefusals(refusal);
  }

  List<ReplicaFrame> build() {
    if (size > FRAME_OVERHEAD) {
      finish();
    }
    return done;
  }

  private void makeRoom(MessageLite entry) {
    int bytes =
        ENTRY_OVERHEAD
            + CodedOutputStream.computeUInt32SizeNoTag(entry.getSerializedSize())
            + entry.getSerializedSize();
    if (size > FRAME_OVERHEAD && size + bytes > bytesMax) {
      finish();
    }
    size += bytes;
  }

  private void finish() {
    done.add(frame.build());
    frame = ReplicaFrame.newBuilder().setStep(step);
    size = FRAME_OVERHEAD;
  }

  private static Emission emission(Emitted emitted) {
    Emission.Builder emission =
        Emission.newBuilder()
            .setGeneration(emitted.generation().value())
            .setText(ByteString.copyFrom(emitted.text()))
            .setPosition(emitted.position());
    if (emitted.first()) {
      emission.setCached(emitted.cached()).setQueuedMs((int) emitted.queuedMillis());
    }
    emitted.tokens().forEach(token -> emission.addTokens(token(token)));
    return emission.build();
  }

  private static Token token(SampledToken sampled) {
    Token.Builder token = Token.newBuilder().setId(sampled.id()).setLogprob(sampled.logprob());
    for (int id : sampled.topIds()) {
      token.addTopIds(id);
    }
    for (float logprob : sampled.topLogprobs()) {
      token.addTopLogprobs(logprob);
    }
    return token.build();
  }

  private static Ending ending(Ended ended) {
    return Ending.newBuilder()
        .setGeneration(ended.generation().value())
        .setReason(ended.reason().name())
        .setPromptTokens(ended.usage().prompt())
        .setCachedTokens(ended.usage().cached())
        .setOutputTokens(ended.usage().output())
        .setStop(ByteString.copyFrom(ended.stop()))
        .build();
  }
}
