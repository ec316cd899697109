package firstlight.edge;

import com.google.protobuf.ByteString;
import firstlight.protocol.Addresses;
import firstlight.protocol.DeviceCapacity;
import firstlight.protocol.FailureKind;
import firstlight.protocol.FinishReason;
import firstlight.protocol.NodeId;
import firstlight.protocol.Numerics;
import firstlight.protocol.ReplicaId;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.wire.Credit;
import firstlight.protocol.wire.EdgeFrame;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Ending;
import firstlight.protocol.wire.InferenceGrpcService;
import firstlight.protocol.wire.Refusal;
import firstlight.protocol.wire.ReplicaFrame;
import firstlight.protocol.wire.Submit;
import firstlight.protocol.wire.Token;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.grpc.server.GrpcServer;
import io.vertx.grpc.server.GrpcServerRequest;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A replica that answers each submission with a given list of tokens, one a frame, as far as credit
 * and the output limit allow; what the submission says is known it does not say again. Without an
 * answer it is silent until told what to say.
 */
final class FakeReplica {
  static final int CONTEXT = 64;
  private static final int LOOKS_MAX = 500;

  private final Vertx vertx;
  private final ReplicaId id;
  private final String model;
  private final BlockingQueue<Submit> submits = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> cancels = new LinkedBlockingQueue<>();
  private final BlockingQueue<Credit> credits = new LinkedBlockingQueue<>();
  private final Map<String, Work> works = new ConcurrentHashMap<>();
  private volatile Function<Submit, int[]> answers = _ -> null;
  private volatile int cachedTokens;
  private HttpServer server;
  private long reporter;

  private final class Work {
    private final GrpcServerRequest<EdgeFrame, ReplicaFrame> line;
    private final Submit submit;
    private final int[] answer;
    private int sent;
    private int credit;

    private Work(GrpcServerRequest<EdgeFrame, ReplicaFrame> line, Submit submit, int[] answer) {
      this.line = line;
      this.submit = submit;
      this.answer = answer;
      this.credit = submit.getCredit();
      this.sent = submit.getKnownCount();
    }

    private void advance() {
      if (answer == null || !works.containsKey(submit.getGeneration())) {
        return;
      }
      if (sent == answer.length || sent == submit.getOutputMax()) {
        boolean all = sent == answer.length;
        end(submit.getGeneration(), all ? FinishReason.END : FinishReason.LENGTH);
      } else if (credit > 0) {
        credit--;
        emit(submit.getGeneration(), answer[sent]);
        vertx.runOnContext(_ -> advance());
      }
    }
  }

  FakeReplica(Vertx vertx, String id, String model) {
    this.vertx = vertx;
    this.id = new ReplicaId(id);
    this.model = model;
  }

  /** What it says to each submission; null: nothing yet. */
  FakeReplica answering(Function<Submit, int[]> answers) {
    this.answers = answers;
    return this;
  }

  FakeReplica cached(int tokens) {
    cachedTokens = tokens;
    return this;
  }

  FakeReplica start() throws Exception {
    GrpcServer grpc = GrpcServer.server(vertx);
    grpc.callHandler(InferenceGrpcService.Attach, this::attached);
    server =
        vertx
            .createHttpServer(new HttpServerOptions().setHost("127.0.0.1").setPort(0))
            .requestHandler(grpc);
    Waiting.on(server.listen());
    announce();
    reporter = vertx.setPeriodic(100, _ -> announce());
    return this;
  }

  /** Falls silent; its connections stay. */
  void stopReporting() {
    vertx.cancelTimer(reporter);
  }

  void stop() throws Exception {
    stopReporting();
    Waiting.on(server.close());
  }

  void announce() {
    vertx.eventBus().publish(Addresses.REPLICAS, report(false));
  }

  ReplicaReport report(boolean draining) {
    return new ReplicaReport(
        id,
        new NodeId("fake"),
        "127.0.0.1",
        server.actualPort(),
        new DeviceCapacity(
            model, 10, 16, 256, CONTEXT, ByteTokenizer.SIZE, new Numerics("glass", "x", 0, "0")),
        0,
        works.size(),
        10,
        0,
        draining);
  }

  /** Forgets what it was asked so far. */
  void forget() {
    submits.clear();
    cancels.clear();
    credits.clear();
  }

  Submit nextSubmit() throws InterruptedException {
    return Waiting.forNext(submits);
  }

  String nextCancel() throws InterruptedException {
    return Waiting.forNext(cancels);
  }

  Credit nextCredit() throws InterruptedException {
    return Waiting.forNext(credits);
  }

  /** The next credit's tokens; 0 once there is a cancellation instead. */
  int creditUnlessCancelled() throws InterruptedException {
    for (int look = 0; look < LOOKS_MAX; look++) {
      Credit credit = credits.poll(20, TimeUnit.MILLISECONDS);
      if (credit != null) {
        return credit.getTokens();
      }
      if (!cancels.isEmpty()) {
        return 0;
      }
    }
    throw new AssertionError("neither credit nor a cancellation came");
  }

  int running() {
    return works.size();
  }

  /** Emits one token of a generation with its own bytes. */
  void emit(String generation, int token) {
    emit(generation, new ByteTokenizer().bytes(token), token);
  }

  void emit(String generation, byte[] text, int token) {
    Work work = works.get(generation);
    Token.Builder said = Token.newBuilder().setId(token).setLogprob(-0.5f);
    for (int i = 0; i < work.submit.getSampling().getTopLogprobs(); i++) {
      said.addTopIds((token + i) % ByteTokenizer.SIZE).addTopLogprobs(-0.5f - i);
    }
    Emission emission =
        Emission.newBuilder()
            .setGeneration(generation)
            .setPosition(work.sent++)
            .setCached(cachedTokens)
            .setQueuedMs(3)
            .setText(ByteString.copyFrom(text))
            .addTokens(said)
            .build();
    work.line.response().write(ReplicaFrame.newBuilder().setStep(1).addEmissions(emission).build());
  }

  void end(String generation, FinishReason reason) {
    end(generation, reason, "");
  }

  void end(String generation, FinishReason reason, String stop) {
    Work work = works.remove(generation);
    Ending ending =
        Ending.newBuilder()
            .setGeneration(generation)
            .setReason(reason.name())
            .setPromptTokens(work.submit.getPromptCount())
            .setCachedTokens(cachedTokens)
            .setOutputTokens(work.sent)
            .setStop(ByteString.copyFromUtf8(stop))
            .build();
    work.line.response().write(ReplicaFrame.newBuilder().setStep(1).addEndings(ending).build());
  }

  void refuse(String generation, FailureKind kind, String code, String message, long retryMillis) {
    Work work = works.remove(generation);
    Refusal refusal =
        Refusal.newBuilder()
            .setGeneration(generation)
            .setKind(kind.name())
            .setCode(code)
            .setMessage(message)
            .setRetryAfterMs(retryMillis)
            .build();
    work.line.response().write(ReplicaFrame.newBuilder().addRefusals(refusal).build());
  }

  private void attached(GrpcServerRequest<EdgeFrame, ReplicaFrame> line) {
    line.handler(
        frame -> {
          switch (frame.getFrameCase()) {
            case SUBMIT -> submitted(line, frame.getSubmit());
            case CANCEL -> cancelled(frame.getCancel().getGeneration());
            case CREDIT -> credited(frame.getCredit());
            default -> {}
          }
        });
    line.exceptionHandler(_ -> {});
  }

  private void submitted(GrpcServerRequest<EdgeFrame, ReplicaFrame> line, Submit submit) {
    Work work = new Work(line, submit, answers.apply(submit));
    works.put(submit.getGeneration(), work);
    submits.add(submit);
    work.advance();
  }

  private void cancelled(String generation) {
    if (works.containsKey(generation)) {
      end(generation, FinishReason.CANCELLED);
      cancels.add(generation);
    }
  }

  private void credited(Credit credit) {
    Work work = works.get(credit.getGeneration());
    if (work != null) {
      work.credit += credit.getTokens();
      credits.add(credit);
      work.advance();
    }
  }
}
