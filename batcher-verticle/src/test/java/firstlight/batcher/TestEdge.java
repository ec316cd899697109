package firstlight.batcher;

import com.google.protobuf.ByteString;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.InferenceFrames;
import firstlight.protocol.wire.Cancel;
import firstlight.protocol.wire.Credit;
import firstlight.protocol.wire.EdgeFrame;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Ending;
import firstlight.protocol.wire.Hello;
import firstlight.protocol.wire.InferenceGrpcClient;
import firstlight.protocol.wire.Refusal;
import firstlight.protocol.wire.ReplicaFrame;
import firstlight.protocol.wire.Submit;
import firstlight.protocol.wire.Token;
import io.vertx.core.Vertx;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import io.vertx.grpc.client.GrpcClientOptions;
import io.vertx.grpc.client.GrpcClientRequest;
import io.vertx.grpc.client.GrpcClientResponse;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** An edge's end of the stream, for a test that waits for what comes. */
final class TestEdge {
  private static final int WAIT_SECONDS = 10;

  private final GrpcClient client;
  private final GrpcClientRequest<EdgeFrame, ReplicaFrame> request;
  private final BlockingQueue<Object> arrivals = new LinkedBlockingQueue<>();
  private final List<ReplicaFrame> frames = new CopyOnWriteArrayList<>();
  private volatile Optional<String> ended = Optional.empty();
  private volatile Optional<GrpcClientResponse<EdgeFrame, ReplicaFrame>> response =
      Optional.empty();

  TestEdge(Vertx vertx, int port) throws Exception {
    this(vertx, port, "edge");
  }

  /**
   * @param name empty: does not say hello
   */
  TestEdge(Vertx vertx, int port, String name) throws Exception {
    client = GrpcClient.client(vertx, new GrpcClientOptions().setMaxMessageSize(256 << 10));
    request =
        client
            .request(SocketAddress.inetSocketAddress(port, "127.0.0.1"), InferenceGrpcClient.Attach)
            .toCompletionStage()
            .toCompletableFuture()
            .get(WAIT_SECONDS, TimeUnit.SECONDS);
    request.response().onSuccess(this::read).onFailure(failure -> end(failure.toString()));
    request.exceptionHandler(failure -> end(failure.toString()));
    if (!name.isEmpty()) {
      send(EdgeFrame.newBuilder().setHello(Hello.newBuilder().setEdge(name)).build());
    }
  }

  private void read(GrpcClientResponse<EdgeFrame, ReplicaFrame> reading) {
    response = Optional.of(reading);
    reading.handler(
        frame -> {
          frames.add(frame);
          arrivals.add(frame);
        });
    reading.exceptionHandler(failure -> end(failure.toString()));
    reading.endHandler(_ -> end(String.valueOf(reading.status())));
  }

  private void end(String how) {
    ended = Optional.of(how);
    arrivals.add(how);
  }

  void send(EdgeFrame frame) {
    request.write(frame);
  }

  void submit(GenerationSpec spec, int credit) {
    submit(InferenceFrames.submit(spec, credit));
  }

  void submit(Submit submit) {
    send(EdgeFrame.newBuilder().setSubmit(submit).build());
  }

  void cancel(String generation) {
    send(EdgeFrame.newBuilder().setCancel(Cancel.newBuilder().setGeneration(generation)).build());
  }

  void credit(String generation, int tokens) {
    send(
        EdgeFrame.newBuilder()
            .setCredit(Credit.newBuilder().setGeneration(generation).setTokens(tokens))
            .build());
  }

  /** Goes away without a word. */
  void vanish() {
    request.connection().close();
  }

  /** Resets its stream. */
  void reset() {
    request.cancel();
  }

  /** Stops reading. */
  void stopReading() {
    response.orElseThrow().pause();
  }

  void readAgain() {
    response.orElseThrow().resume();
  }

  Ending ending(String generation) throws InterruptedException {
    return await(edge -> edge.endings(generation).stream().findFirst());
  }

  Refusal refusal(String generation) throws InterruptedException {
    return await(edge -> edge.refusals(generation).stream().findFirst());
  }

  /** Waits until that many tokens have come. */
  List<Integer> tokens(String generation, int count) throws InterruptedException {
    return await(edge -> Optional.of(edge.tokens(generation)).filter(t -> t.size() >= count));
  }

  String end() throws InterruptedException {
    return await(edge -> edge.ended);
  }

  private <T> T await(java.util.function.Function<TestEdge, Optional<T>> wanted)
      throws InterruptedException {
    Optional<T> found = wanted.apply(this);
    while (found.isEmpty()) {
      if (arrivals.poll(WAIT_SECONDS, TimeUnit.SECONDS) == null) {
        throw new AssertionError("nothing came for too long; frames so far: " + frames);
      }
      found = wanted.apply(this);
    }
    return found.get();
  }

  List<ReplicaFrame> frames() {
    return frames;
  }

  List<Emission> emissions(String generation) {
    return frames.stream()
        .flatMap(frame -> frame.getEmissionsList().stream())
        .filter(emission -> emission.getGeneration().equals(generation))
        .toList();
  }

  List<Integer> tokens(String generation) {
    return emissions(generation).stream()
        .flatMap(emission -> emission.getTokensList().stream())
        .map(Token::getId)
        .toList();
  }

  String text(String generation) {
    return emissions(generation).stream()
        .map(Emission::getText)
        .reduce(ByteString.EMPTY, ByteString::concat)
        .toStringUtf8();
  }

  List<Ending> endings(String generation) {
    Predicate<Ending> wanted = ending -> ending.getGeneration().equals(generation);
    return frames.stream()
        .flatMap(frame -> frame.getEndingsList().stream())
        .filter(wanted)
        .toList();
  }

  List<Refusal> refusals(String generation) {
    return frames.stream()
        .flatMap(frame -> frame.getRefusalsList().stream())
        .filter(refusal -> refusal.getGeneration().equals(generation))
        .toList();
  }
}
