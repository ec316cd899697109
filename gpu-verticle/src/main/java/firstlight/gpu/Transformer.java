package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import firstlight.model.Hyperparameters;
import java.util.stream.IntStream;
import jdk.incubator.vector.FloatVector;
import org.jspecify.annotations.Nullable;

/**
 * The forward pass of llama and gemma3. All device threads run it together: a phase is cut into
 * shares of the rows of a matrix, of the tokens, or of the heads.
 *
 * <p>Buffers hold one row a token of the Step and are used again by every layer.
 */
final class Transformer {
  private static final int PHASES_A_LAYER = 9;

  private final ModelWeights weights;
  private final Hyperparameters model;
  private final KvMemory memory;
  private final Attention[] attentions;
  private final boolean gelu;

  /** The residual stream. */
  private final float[] stream;

  private final Activations normed;
  private final float[] queries;
  private final float[] keys;
  private final float[] values;
  private final Activations attended;
  private final float[] gates;
  private final float[] ups;
  private final Activations hidden;
  private final float[] added;

  Transformer(ModelWeights weights, KvMemory memory, DeviceShape shape) {
    this.weights = weights;
    this.model = weights.model();
    this.memory = memory;
    this.gelu = model.architecture().equals("gemma3");
    int rows = shape.stepTokensMax();
    boolean quantised = shape.quantised();
    LayerWeights layer = weights.layers().getFirst();
    attentions =
        IntStream.range(0, shape.threads())
            .mapToObj(
                _ ->
                    new Attention(
                        memory,
                        model.headSize(),
                        shape.contextMax(),
                        model.attentionScale(),
                        model.attentionSoftcap()))
            .toArray(Attention[]::new);
    stream = new float[rows * model.embedding()];
    normed = new Activations(rows, model.embedding(), quantised);
    queries = new float[rows * layer.query().stride()];
    keys = new float[rows * layer.key().stride()];
    values = new float[rows * layer.value().stride()];
    attended = new Activations(rows, model.heads() * model.headSize(), quantised);
    gates = new float[rows * layer.gate().stride()];
    ups = new float[rows * layer.up().stride()];
    hidden = new Activations(rows, model.feedForward(), quantised);
    added = new float[rows * Math.max(layer.output().stride(), layer.down().stride())];
  }

  /** Where each row of the Step ends up, after the last layer: {@code [row][embedding]}. */
  float[] stream() {
    return stream;
  }

  /** Phases of a run. */
  int phases() {
    return PHASES_A_LAYER * model.layers() + 1;
  }

  void run(StepRows rows, Turn turn) {
    int count = rows.count();
    for (int i = 0; i < model.layers(); i++) {
      int layer = i;
      LayerWeights w = weights.layers().get(i);
      turn.together(share -> begin(rows, share, layer));
      turn.together(
          share -> {
            w.query().multiply(normed, count, queries, share);
            w.key().multiply(normed, count, keys, share);
            w.value().multiply(normed, count, values, share);
          });
      turn.together(share -> rotateAndStore(rows, share, layer));
      turn.together(share -> attend(rows, share, layer, attentions[turn.thread()]));
      turn.together(share -> w.output().multiply(attended, count, added, share));
      turn.together(
          share -> {
            add(rows, share, w.attentionPostNorm(), w.output().stride());
            normalise(rows, share, w.feedForwardNorm());
          });
      turn.together(
          share -> {
            w.gate().multiply(normed, count, gates, share);
            w.up().multiply(normed, count, ups, share);
          });
      turn.together(share -> activate(rows, share, w.gate().stride()));
      turn.together(share -> w.down().multiply(hidden, count, added, share));
    }
    turn.together(share -> end(rows, share, model.layers() - 1));
  }

  /** Brings the stream up to a layer, and its input. */
  private void begin(StepRows rows, Share share, int layer) {
    if (layer == 0) {
      embed(rows, share);
    } else {
      end(rows, share, layer - 1);
    }
    normalise(rows, share, weights.layers().get(layer).attentionNorm());
  }

  private void end(StepRows rows, Share share, int layer) {
    LayerWeights w = weights.layers().get(layer);
    add(rows, share, w.feedForwardPostNorm(), w.down().stride());
  }

  private void embed(StepRows rows, Share share) {
    int size = model.embedding();
    for (int row = share.from(rows.count()); row < share.to(rows.count()); row++) {
      weights.embedding().row(rows.tokens()[row], stream, row * size);
      for (int i = row * size; i < (row + 1) * size; i++) {
        stream[i] *= model.embeddingScale();
      }
    }
  }

  private void normalise(StepRows rows, Share share, float[] norm) {
    for (int row = share.from(rows.count()); row < share.to(rows.count()); row++) {
      VectorMath.norm(
          new VectorMath.Part(stream, row * model.embedding()),
          norm,
          model.normEpsilon(),
          new VectorMath.Part(normed.values, normed.row(row)));
      normed.quantise(row);
    }
  }

  private void rotateAndStore(StepRows rows, Share share, int layer) {
    int heads = model.heads() + model.kvHeads();
    int units = rows.count() * heads;
    for (int unit = share.from(units); unit < share.to(units); unit++) {
      int head = unit % heads;
      if (head < model.heads()) {
        turnQuery(rows, unit / heads, head, layer);
      } else {
        keep(rows, unit / heads, head - model.heads(), layer);
      }
    }
  }

  private void turnQuery(StepRows rows, int row, int head, int layer) {
    LayerWeights w = weights.layers().get(layer);
    int at = row * w.query().stride() + head * model.headSize();
    normaliseHead(queries, at, w.queryNorm());
    weights.rotations().get(layer).rotate(queries, at, rows.positions()[row]);
  }

  private void keep(StepRows rows, int row, int kvHead, int layer) {
    LayerWeights w = weights.layers().get(layer);
    int at = row * w.key().stride() + kvHead * model.headSize();
    int position = rows.positions()[row];
    normaliseHead(keys, at, w.keyNorm());
    weights.rotations().get(layer).rotate(keys, at, position);
    int block = rows.slice(row).blocks()[position / memory.blockTokens()];
    int part = memory.at(block, kvHead);
    int inBlock = position % memory.blockTokens();
    memory.storeKey(layer, part, inBlock, keys, at);
    int valueAt = row * w.value().stride() + kvHead * model.headSize();
    memory.storeValue(layer, part, inBlock, values, valueAt);
  }

  private void normaliseHead(float[] heads, int at, float @Nullable [] norm) {
    if (norm != null) {
      VectorMath.Part head = new VectorMath.Part(heads, at);
      VectorMath.norm(head, norm, model.normEpsilon(), head);
    }
  }

  private void attend(StepRows rows, Share share, int layer, Attention attention) {
    int size = model.headSize();
    int stride = weights.layers().get(layer).query().stride();
    int window = model.isLocal(layer) ? model.slidingWindow() : Integer.MAX_VALUE;
    int units = rows.count() * model.heads();
    // Dealt out one by one, since later positions of a long Slice see more and take longer.
    for (int unit = share.part(); unit < units; unit += share.parts()) {
      int row = unit / model.heads();
      int head = unit % model.heads();
      int end = rows.positions()[row] + 1;
      int kvHead = head / (model.heads() / model.kvHeads());
      attention.attend(
          new Attention.View(
              layer, kvHead, rows.slice(row).blocks(), Math.max(0, end - window), end),
          queries,
          row * stride + head * size,
          attended.values,
          attended.row(row) + head * size);
      attended.quantise(row, head * size, (head + 1) * size);
    }
  }

  /** Adds a part's output to the stream, normalised before where the architecture says so. */
  private void add(StepRows rows, Share share, float @Nullable [] norm, int stride) {
    int size = model.embedding();
    for (int row = share.from(rows.count()); row < share.to(rows.count()); row++) {
      VectorMath.Part part = new VectorMath.Part(added, row * stride);
      if (norm != null) {
        VectorMath.norm(part, norm, model.normEpsilon(), part);
      }
      VectorMath.add(part, new VectorMath.Part(stream, row * size), size);
    }
  }

  /** The gated activation, in units of one block of one row. */
  private void activate(StepRows rows, Share share, int stride) {
    int blocks = (model.feedForward() + Activations.BLOCK - 1) / Activations.BLOCK;
    int units = rows.count() * blocks;
    for (int unit = share.from(units); unit < share.to(units); unit++) {
      int row = unit / blocks;
      int from = unit % blocks * Activations.BLOCK;
      int to = Math.min(model.feedForward(), from + Activations.BLOCK);
      for (int i = from; i < to; i += COUNT) {
        FloatVector gate = FloatVector.fromArray(FLOATS, gates, row * stride + i);
        FloatVector up = FloatVector.fromArray(FLOATS, ups, row * stride + i);
        FloatVector active = gelu ? VectorMath.gelu(gate) : VectorMath.silu(gate);
        active.mul(up).intoArray(hidden.values, hidden.row(row) + i);
      }
      hidden.quantise(row, from, to);
    }
  }
}
