package firstlight.gpu;

import firstlight.gpu.cuda.Nccl;
import firstlight.gpu.cuda.StreamWork;
import firstlight.model.Hyperparameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The forward pass of llama and gemma3 as launches of kernels, for one bucket of Steps. */
final class CudaForward {
  private final CudaWeights weights;
  private final Hyperparameters model;
  private final CudaShape shape;
  private final CudaBuffers at;
  private final Parts parts;
  private final Kernels kernels;
  private final StepBucket bucket;
  private final Told told;
  private final StepLayout layout;
  private final List<StreamWork> launches = new ArrayList<>();

  /** Where a Step's kernels find what they are told: addresses. */
  record Told(long counts, long tables, long extras, long answers) {}

  /**
   * What stays the same for all Steps of a device.
   *
   * @param kv address of the KV memory
   * @param peers the GPUs that have the model's other shares
   */
  record Parts(
      Kernels kernels,
      CudaProducts products,
      CudaWeights weights,
      CudaShape shape,
      CudaBuffers buffers,
      long kv,
      Optional<Peers> peers) {}

  /** GPUs that compute a model together. */
  record Peers(Nccl nccl, Shard shard) {}

  private CudaForward(Parts parts, StepBucket bucket, Told told) {
    this.parts = parts;
    kernels = parts.kernels();
    weights = parts.weights();
    model = weights.model();
    shape = parts.shape();
    at = parts.buffers();
    this.bucket = bucket;
    this.told = told;
    layout = StepLayout.of(bucket, shape.tiles(bucket.rows()));
  }

  /** All launches of a Step, in their order. */
  static List<StreamWork> launches(Parts parts, StepBucket bucket, Told told) {
    CudaForward forward = new CudaForward(parts, bucket, told);
    forward.prepare();
    return List.copyOf(forward.launches);
  }

  private void prepare() {
    embed();
    for (int i = 0; i < model.layers(); i++) {
      CudaWeights.Layer layer = weights.layers().get(i);
      long before = i == 0 ? 0 : weights.layers().get(i - 1).feedForwardPostNorm();
      norm(i == 0 ? 0 : at.added(), before, layer.attentionNorm());
      attend(layer, i);
      norm(at.added(), layer.attentionPostNorm(), layer.feedForwardNorm());
      feedForward(layer);
    }
    if (bucket.sampled() > 0 && parts.peers().map(peers -> peers.shard().isFirst()).orElse(true)) {
      sample();
    }
  }

  private void embed() {
    launches.add(
        kernels.embed(
            new KernelArguments.Embed(
                at.stream(),
                weights.embedding(),
                told.counts() + layout.tokens(),
                model.embeddingScale(),
                told.counts()),
            bucket.rows()));
  }

  private void norm(long added, long postNorm, long norm) {
    launches.add(
        kernels.addNorm(
            new KernelArguments.AddNorm(
                at.normed(),
                at.stream(),
                added,
                postNorm,
                norm,
                0,
                told.counts(),
                model.embedding(),
                model.normEpsilon()),
            bucket.rows()));
  }

  private KernelArguments.Product product(CudaMatrix matrix, long x, long out) {
    return KernelArguments.Product.of(out, matrix, x, told.counts());
  }

  /** Products of the same input. */
  private void multiply(KernelArguments.Product... products) {
    launches.addAll(parts.products().prepare(bucket.rows(), products));
  }

  /** Adds up what all GPUs' columns come to, where there are several. */
  private void wholeProduct(CudaMatrix matrix, long x, long out) {
    if (parts.peers().isEmpty()) {
      multiply(product(matrix, x, out));
      return;
    }
    Peers peers = parts.peers().get();
    int rank = peers.shard().rank();
    long apart = (long) bucket.rows() * matrix.rows();
    long floats = apart * matrix.ranges();
    long ours = at.ranges() + rank * floats * Float.BYTES;
    multiply(KernelArguments.Product.ofRanges(ours, matrix, x, apart, told.counts()));
    launches.add(peers.nccl().gather(rank, new Nccl.Gathered(at.ranges(), floats)));
    launches.add(
        kernels.addRanges(
            new KernelArguments.AddRanges(out, at.ranges(), apart, matrix.rows(), told.counts()),
            bucket.rows()));
  }

  private void attend(CudaWeights.Layer layer, int number) {
    multiply(
        product(layer.query(), at.normed(), at.queries()),
        product(layer.key(), at.normed(), at.keys()),
        product(layer.value(), at.normed(), at.values()));
    rotate(layer, number);
    KernelArguments.Attend attend = attention(number);
    int tiles = shape.tiles(bucket.rows());
    if (bucket.splits() > 1) {
      launches.add(kernels.attendSplits(attend, bucket.splits(), tiles));
      launches.add(kernels.fold(attend, tiles));
    } else {
      launches.add(kernels.attend(attend, tiles));
    }
    wholeProduct(layer.output(), at.attended(), at.added());
  }

  private void rotate(CudaWeights.Layer layer, int number) {
    KernelArguments.Heads heads =
        new KernelArguments.Heads(
            at.queries(),
            at.keys(),
            at.values(),
            model.heads(),
            layer.queryNorm(),
            layer.keyNorm(),
            model.normEpsilon(),
            weights.turns().get(number),
            model.ropeDimensions() / 2,
            model.ropeInterleaved());
    launches.add(
        kernels.rotate(
            new KernelArguments.Rotation(
                heads,
                told.tables(),
                told.counts() + layout.tableOf(),
                told.counts() + layout.positions(),
                at.turned(),
                memory(number),
                told.counts()),
            bucket.rows()));
  }

  private KernelArguments.Memory memory(int layer) {
    long elements = CudaShape.blockBytes(model, shape.blockTokens()) / Short.BYTES;
    return new KernelArguments.Memory(
        parts.kv(),
        elements,
        elements / model.layers() * layer,
        shape.blockTokens(),
        model.headSize(),
        model.kvHeads());
  }

  private KernelArguments.Attend attention(int layer) {
    KernelArguments.Scores scores =
        new KernelArguments.Scores(
            shape.group(),
            model.attentionScale(),
            model.attentionSoftcap(),
            model.isLocal(layer) ? model.slidingWindow() : Integer.MAX_VALUE);
    return new KernelArguments.Attend(
        at.attended(),
        at.partials(),
        at.turned(),
        told.counts() + layout.tiles(),
        told.tables(),
        scores,
        memory(layer),
        told.counts());
  }

  private void feedForward(CudaWeights.Layer layer) {
    multiply(
        product(layer.gate(), at.normed(), at.gates()), product(layer.up(), at.normed(), at.ups()));
    launches.add(
        kernels.activate(
            new KernelArguments.Activate(
                at.hidden(),
                at.gates(),
                at.ups(),
                told.counts(),
                model.feedForward(),
                model.architecture().equals("gemma3")),
            bucket.rows()));
    wholeProduct(layer.down(), at.hidden(), at.added());
  }

  private void sample() {
    launches.add(
        kernels.addNorm(
            new KernelArguments.AddNorm(
                at.wanted(),
                at.stream(),
                at.added(),
                weights.layers().getLast().feedForwardPostNorm(),
                weights.outputNorm(),
                told.counts() + layout.wanted(),
                told.counts(),
                model.embedding(),
                model.normEpsilon()),
            bucket.sampled()));
    for (int first = 0; first < bucket.sampled(); first += shape.logitRows()) {
      sample(first, Math.min(shape.logitRows(), bucket.sampled() - first));
    }
  }

  /** Some of the sampled rows: as many as there is room for logits. */
  private void sample(int first, int count) {
    long x = at.wanted() + (long) first * model.embedding() * Short.BYTES;
    KernelArguments.Product product =
        KernelArguments.Product.ofSampled(
            at.logits(), weights.output(), x, first, count, told.counts());
    launches.addAll(parts.products().prepare(count, product));
    launches.add(
        kernels.sample(
            new KernelArguments.Sample(
                at.logits(),
                at.adjusted(),
                told.counts() + layout.choices(),
                told.extras(),
                told.answers(),
                told.counts(),
                model.vocabulary(),
                model.logitSoftcap(),
                first),
            count));
  }
}
