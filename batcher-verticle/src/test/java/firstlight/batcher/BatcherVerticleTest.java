package firstlight.batcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import firstlight.protocol.FinishReason;
import firstlight.protocol.GenerationSpec;
import firstlight.protocol.GlassDevice;
import firstlight.protocol.InferenceFrames;
import firstlight.protocol.ReplicaReport;
import firstlight.protocol.Sampling;
import firstlight.protocol.wire.Emission;
import firstlight.protocol.wire.Refusal;
import firstlight.protocol.wire.ReplicaFrame;
import firstlight.protocol.wire.Submit;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatcherVerticleTest {
  private final TestReplica replica = new TestReplica();

  @AfterEach
  void stop() throws Exception {
    replica.close();
  }

  private static GlassDevice device() {
    return GlassDevice.of(256, 4, 64);
  }

  @Test
  void a_generation_streams_its_tokens_and_ends_once() throws Exception {
    replica.start(device());
    TestEdge edge = replica.edge();
    GenerationSpec spec = Specs.stopping(Specs.of("g1", 10, 8), List.of("##".getBytes()));
    edge.submit(spec, 100);
    assertThat(edge.ending("g1").getReason()).isEqualTo(FinishReason.LENGTH.name());
    assertThat(edge.tokens("g1")).isEqualTo(Specs.alone(spec));
    assertThat(edge.text("g1")).isEqualTo(Expected.of(spec).text());
    assertThat(edge.emissions("g1")).extracting(Emission::getPosition).startsWith(0, 1, 2);
    assertThat(edge.ending("g1").getPromptTokens()).isEqualTo(10);
    assertThat(edge.ending("g1").getOutputTokens()).isEqualTo(8);
  }

  @Test
  void one_frame_a_step_carries_the_tokens_of_all_the_edges_generations() throws Exception {
    FakeGpu gpu = replica.start(device());
    TestEdge one = replica.edge();
    TestEdge other = replica.edge();
    gpu.hanging(true);
    one.submit(Specs.of("first", 4, 1), 100);
    gpu.awaitStuck();
    List<GenerationSpec> specs = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      specs.add(Specs.of("g" + i, 4 + i, 20));
      (i % 2 == 0 ? one : other).submit(specs.getLast(), 100);
    }
    replica.report(report -> report.waiting() == 8);
    gpu.hanging(false);
    for (int i = 0; i < 8; i++) {
      TestEdge edge = i % 2 == 0 ? one : other;
      edge.ending("g" + i);
      assertThat(edge.tokens("g" + i)).isEqualTo(Specs.alone(specs.get(i)));
    }
    assertThat(other.frames()).hasSize(20);
    assertThat(other.frames()).extracting(ReplicaFrame::getStep).doesNotHaveDuplicates();
    assertThat(other.frames()).allMatch(frame -> frame.getEmissionsCount() == 4);
  }

  @Test
  void a_cancelled_generation_ends_within_a_step() throws Exception {
    replica.start(device());
    TestEdge edge = replica.edge();
    edge.submit(Specs.of("g", 4, 900), 3);
    edge.tokens("g", 3);
    edge.cancel("g");
    assertThat(edge.ending("g").getReason()).isEqualTo(FinishReason.CANCELLED.name());
    replica.report(report -> report.running() == 0 && report.blocksFree() == 256);
    edge.cancel("g");
    edge.cancel("never heard of it");
    edge.submit(Specs.of("next", 4, 2), 10);
    edge.ending("next");
    assertThat(edge.endings("g")).hasSize(1);
  }

  @Test
  void credit_lets_a_generation_go_on() throws Exception {
    replica.start(device());
    TestEdge edge = replica.edge();
    GenerationSpec spec = Specs.of("g", 4, 10);
    edge.submit(spec, 4);
    edge.tokens("g", 4);
    replica.report(report -> report.running() == 1);
    assertThat(edge.tokens("g")).hasSize(4);
    edge.credit("g", -1);
    edge.ending("g");
    assertThat(edge.tokens("g")).isEqualTo(Specs.alone(spec));
  }

  @Test
  void an_edge_touches_no_other_edges_generations() throws Exception {
    replica.start(device());
    TestEdge owner = replica.edge();
    TestEdge other = replica.edge();
    owner.submit(Specs.of("g", 4, 10), 2);
    owner.tokens("g", 2);
    other.cancel("g");
    other.credit("g", 100);
    other.submit(Specs.of("g", 4, 10), 100);
    assertThat(other.refusal("g").getKind()).isEqualTo("CONFLICT");
    assertThat(owner.endings("g")).isEmpty();
    assertThat(owner.tokens("g")).hasSize(2);
    owner.credit("g", 100);
    owner.ending("g");
  }

  @Test
  void an_id_used_twice_by_one_edge_ends_both() throws Exception {
    replica.start(device());
    TestEdge edge = replica.edge();
    edge.submit(Specs.of("g", 4, 10), 2);
    edge.tokens("g", 2);
    edge.submit(Specs.of("g", 4, 10), 2);
    assertThat(edge.refusal("g").getCode()).isEqualTo("generation_exists");
    replica.report(report -> report.running() == 0 && report.blocksFree() == 256);
    assertThat(edge.endings("g")).isEmpty();
  }

  @Test
  void the_generations_of_an_edge_that_vanishes_end_with_it() throws Exception {
    replica.start(device());
    TestEdge edge = replica.edge();
    TestEdge stays = replica.edge();
    edge.submit(Specs.of("g", 4, 900), 3);
    stays.submit(Specs.of("s", 4, 900), 3);
    edge.tokens("g", 3);
    stays.tokens("s", 3);
    replica.report(report -> report.running() == 2);
    edge.vanish();
    replica.report(report -> report.running() == 1);
    stays.reset();
    replica.report(report -> report.running() == 0 && report.blocksFree() == 256);
  }

  @Test
  void a_stream_that_does_not_begin_with_hello_is_closed() throws Exception {
    replica.start(device());
    TestEdge edge = new TestEdge(replica.vertx, replica.port(), "");
    edge.submit(Specs.of("g", 4, 9), 100);
    edge.end();
    assertThat(edge.frames()).isEmpty();
  }

  @Test
  void a_bad_submission_is_refused_and_the_stream_goes_on() throws Exception {
    replica.start(device(), "stopStringsMax: 2\nstopBytesMax: 4\nbiasTokensMax: 1");
    TestEdge edge = replica.edge();
    Submit good = InferenceFrames.submit(Specs.of("g", 4, 2), 10);
    List<Submit> bad =
        List.of(
            good.toBuilder().clearPrompt().build(),
            good.toBuilder().addPrompt(50_000).build(),
            good.toBuilder().addPrompt(-1).build(),
            good.toBuilder().addKnown(50_000).build(),
            good.toBuilder().setOutputMax(0).build(),
            good.toBuilder().setTenant("no tenant").build(),
            good.toBuilder().setGeneration("").build(),
            good.toBuilder().setCredit(-5).build(),
            good.toBuilder().addStop(com.google.protobuf.ByteString.EMPTY).build(),
            good.toBuilder().addStop(utf8("12345")).build(),
            good.toBuilder().addStop(utf8("1")).addStop(utf8("2")).addStop(utf8("3")).build(),
            sampling(good, s -> s.setTemperature(Float.NaN)),
            sampling(good, s -> s.setTopLogprobs(1000)),
            sampling(good, s -> s.addBiasTokens(1)),
            sampling(good, s -> s.addBiasTokens(50_000).addBiasValues(1)),
            sampling(good, s -> s.addBiasTokens(1).addBiasValues(Float.POSITIVE_INFINITY)),
            sampling(good, s -> s.addBiasTokens(1).addBiasTokens(2).addBiasValues(1)));
    for (int i = 0; i < bad.size(); i++) {
      boolean named = !bad.get(i).getGeneration().isEmpty();
      String id = named ? "bad" + i : "";
      edge.submit(bad.get(i).toBuilder().setGeneration(id).build());
      Refusal refusal = edge.refusal(id);
      assertThat(refusal.getKind()).as(refusal.getMessage()).isEqualTo("INVALID_REQUEST");
      assertThat(refusal.getMessage()).endsWith(".").doesNotContain("firstlight", "Exception");
    }
    edge.submit(good.toBuilder().setGeneration("x".repeat(100_000)).build());
    assertThat(edge.refusal("x".repeat(128)).getKind()).isEqualTo("INVALID_REQUEST");
    edge.submit(
        good.toBuilder().setGeneration("l").addAllPrompt(Collections.nCopies(500_000, 1)).build());
    assertThat(edge.refusal("l").getCode()).isEqualTo("context_length_exceeded");
    assertThat(edge.refusal("l").getMessage()).contains("4096", "500004");
    edge.submit(good.toBuilder().setModel("other").setGeneration("m").build());
    assertThat(edge.refusal("m").getCode()).isEqualTo("model_not_found");
    edge.submit(good);
    edge.ending("g");
  }

  private static com.google.protobuf.ByteString utf8(String text) {
    return com.google.protobuf.ByteString.copyFromUtf8(text);
  }

  private static Submit sampling(
      Submit submit,
      java.util.function.Consumer<firstlight.protocol.wire.SamplingOptions.Builder> change) {
    Submit.Builder changed = submit.toBuilder();
    change.accept(changed.getSamplingBuilder());
    return changed.build();
  }

  @Test
  void an_edge_with_too_many_generations_is_refused_more() throws Exception {
    replica.start(device(), "generationsPerEdgeMax: 2");
    TestEdge edge = replica.edge();
    edge.submit(Specs.of("a", 4, 9), 1);
    edge.submit(Specs.of("b", 4, 9), 1);
    edge.submit(Specs.of("c", 4, 9), 1);
    assertThat(edge.refusal("c").getKind()).isEqualTo("OVERLOADED");
    edge.cancel("a");
    edge.ending("a");
    edge.submit(Specs.of("d", 4, 2), 9);
    edge.ending("d");
  }

  @Test
  void a_step_with_more_than_fits_a_message_is_split_into_frames() throws Exception {
    FakeGpu gpu =
        replica.start(
            GlassDevice.of(8192, 4, 4096),
            "runningMax: 2000\nstepTokensMax: 4096\nwaitingMax: 2000\ntenantWaitingShare: 1");
    TestEdge edge = replica.edge();
    gpu.hanging(true);
    edge.submit(Specs.of("first", 1, 1), 1);
    gpu.awaitStuck();
    for (int i = 0; i < 1500; i++) {
      edge.submit(Specs.sampled(Specs.of("generation-number-" + i, 1, 2), Sampling.greedy(20)), 9);
    }
    replica.report(report -> report.waiting() == 1500);
    gpu.hanging(false);
    for (int i = 0; i < 1500; i++) {
      edge.ending("generation-number-" + i);
    }
    assertThat(edge.tokens("generation-number-7"))
        .isEqualTo(Specs.alone(Specs.of("generation-number-7", 1, 2)));
    long second = edge.frames().get(1).getStep();
    List<ReplicaFrame> frames =
        edge.frames().stream().filter(frame -> frame.getStep() == second).toList();
    assertThat(frames).hasSizeGreaterThan(1);
    assertThat(frames.stream().mapToInt(ReplicaFrame::getSerializedSize).sum())
        .isGreaterThan(256 << 10);
    assertThat(frames).allMatch(frame -> frame.getSerializedSize() <= 192 << 10);
  }

  @Test
  void an_edge_that_does_not_read_is_paused_and_others_go_on() throws Exception {
    replica.start(GlassDevice.of(8192, 4, 64), "edgeOwedBytesMax: 64KiB\nframeBytesMax: 16KiB");
    TestEdge slow = replica.edge();
    TestEdge quick = replica.edge();
    GenerationSpec large = Specs.sampled(Specs.of("slow", 4, 2500), Sampling.greedy(20));
    slow.submit(Specs.of("hello", 1, 1), 1);
    slow.ending("hello");
    slow.stopReading();
    slow.submit(large, 100_000);
    replica.report(report -> report.running() == 1);
    GenerationSpec small = Specs.of("quick", 4, 200);
    quick.submit(small, 1000);
    quick.ending("quick");
    assertThat(quick.tokens("quick")).isEqualTo(Specs.alone(small));
    assertThat(slow.tokens("slow").size()).isLessThan(2500);
    slow.readAgain();
    slow.ending("slow");
    assertThat(slow.tokens("slow")).isEqualTo(Specs.alone(large));
  }

  @Test
  void an_edge_that_vanishes_with_frames_unread_is_noticed_too() throws Exception {
    replica.start(GlassDevice.of(8192, 4, 64), "edgeOwedBytesMax: 64KiB\nframeBytesMax: 16KiB");
    TestEdge edge = replica.edge();
    edge.submit(Specs.of("hello", 1, 1), 1);
    edge.ending("hello");
    edge.stopReading();
    edge.submit(Specs.sampled(Specs.of("g", 4, 2500), Sampling.greedy(20)), 100_000);
    replica.report(report -> report.running() == 1);
    // When no more of it is computed, the edge owes all it may.
    long before = -1;
    while (before != replica.report(_ -> true).outstandingTokens()) {
      before = replica.report(_ -> true).outstandingTokens();
    }
    edge.vanish();
    replica.report(report -> report.running() == 0 && report.blocksFree() == 8192);
  }

  @Test
  void a_lost_device_ends_its_generations_and_the_replica_takes_nothing_until_it_has_one()
      throws Exception {
    FakeGpu gpu = replica.start(device());
    TestEdge edge = replica.edge();
    edge.submit(Specs.of("g", 4, 900), 3);
    edge.tokens("g", 3);
    gpu.leave().toCompletionStage().toCompletableFuture().get();
    edge.credit("g", 100);
    Refusal refusal = edge.refusal("g");
    assertThat(refusal.getKind()).isEqualTo("DEVICE_LOST");
    replica.report(ReplicaReport::draining);
    edge.submit(Specs.of("h", 4, 2), 9);
    assertThat(edge.refusal("h").getKind()).isEqualTo("UNAVAILABLE");
    new FakeGpu(replica.vertx, device(), "gpu-2").serveAnybody();
    replica.report(report -> !report.draining());
    GenerationSpec spec = Specs.of("i", 4, 6);
    edge.submit(spec, 9);
    edge.ending("i");
    assertThat(edge.tokens("i")).isEqualTo(Specs.alone(spec));
  }

  @Test
  void a_step_that_fails_is_a_lost_device() throws Exception {
    FakeGpu gpu = replica.start(device());
    TestEdge edge = replica.edge();
    gpu.broken(true);
    edge.submit(Specs.of("g", 4, 9), 100);
    assertThat(edge.refusal("g").getKind()).isEqualTo("DEVICE_LOST");
    gpu.broken(false);
    replica.report(ReplicaReport::draining);
    replica.report(report -> !report.draining());
    edge.submit(Specs.of("h", 4, 2), 9);
    edge.ending("h");
  }

  @Test
  void a_device_that_is_silent_in_a_step_is_noticed_by_its_claim() throws Exception {
    FakeGpu gpu = replica.start(device(), "claimEvery: 50ms\nclaimAnswerMax: 100ms");
    TestEdge edge = replica.edge();
    gpu.hanging(true);
    edge.submit(Specs.of("g", 4, 9), 100);
    gpu.awaitStuck();
    gpu.leave().toCompletionStage().toCompletableFuture().get();
    assertThat(edge.refusal("g").getKind()).isEqualTo("DEVICE_LOST");
  }

  @Test
  void it_waits_for_a_device_and_gives_up_after_a_while() throws Exception {
    assertThatThrownBy(() -> replica.deploy("claimMax: 300ms"))
        .hasMessageContaining("No device serves the model glass");
    FakeGpu late = new FakeGpu(replica.vertx, device(), "gpu-late");
    replica.vertx.setTimer(300, _ -> late.serve(TestReplica.NODE));
    replica.deploy("");
    TestEdge edge = replica.edge();
    edge.submit(Specs.of("g", 4, 2), 9);
    edge.ending("g");
  }

  @Test
  void stopping_refuses_what_runs_and_ends_the_streams() throws Exception {
    replica.start(device());
    TestEdge edge = replica.edge();
    edge.submit(Specs.of("g", 4, 900), 3);
    edge.tokens("g", 3);
    replica.undeploy();
    Refusal refusal = edge.refusal("g");
    assertThat(refusal.getKind()).isEqualTo("UNAVAILABLE");
    assertThat(refusal.getCode()).isEqualTo("replica_stopping");
    edge.end();
    replica.report(ReplicaReport::draining);
    assertThat(replica.meters.getMeters()).isEmpty();
  }

  @Test
  void gauges_are_live_and_every_outcome_is_counted() throws Exception {
    replica.start(device(), "reservedOutput: 0");
    TestEdge edge = replica.edge();
    for (int i = 0; i < 20; i++) {
      edge.submit(Specs.of("g" + i, 4, 900), 3);
    }
    for (int i = 0; i < 20; i++) {
      edge.tokens("g" + i, 3);
    }
    assertThat(replica.gauge("vllm:num_requests_running")).isEqualTo(20);
    assertThat(replica.gauge("vllm:kv_cache_usage_perc")).isPositive();
    edge.submit(Specs.of("done", 4, 2), 9);
    edge.ending("done");
    edge.vanish();
    replica.report(report -> report.running() == 0);
    assertThat(replica.gauge("vllm:num_requests_running")).isZero();
    assertThat(replica.gauge("vllm:num_requests_waiting")).isZero();
    assertThat(replica.gauge("vllm:kv_cache_usage_perc")).isZero();
    assertThat(replica.counter("firstlight:replica_generations", "finished_reason", "cancelled"))
        .isEqualTo(20);
    assertThat(replica.counter("firstlight:replica_generations", "finished_reason", "length"))
        .isEqualTo(1);
    assertThat(replica.meters.get("firstlight:replica_generation_tokens").functionCounter().count())
        .isEqualTo(62);
    assertThat(replica.meters.get("firstlight:replica_prompt_tokens").functionCounter().count())
        .isEqualTo(84);
    assertThat(replica.meters.get("firstlight:replica_queue_time").timer().count()).isEqualTo(21);
  }
}
