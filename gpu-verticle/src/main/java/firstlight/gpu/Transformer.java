package firstlight.gpu;

import static firstlight.gpu.Lanes.COUNT;
import static firstlight.gpu.Lanes.FLOATS;

import firstlight.model.Hyperparameters;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
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

  /**
   * Up to so many rows each thread prepares the input of a product for itself, which costs less
   * than to wait for the others once more.
   */
  private static final int FEW_ROWS = 4;

  private final ModelWeights weights;
  private final Hyperparameters model;
  private final boolean gelu;
  private final AttentionPhase attention;

  /** The residual stream before the attention of a layer, and before its feed-forward part. */
  private final float[] before;

  private final float[] between;
  private final Activations normed;

  /** The same for few rows, for each thread. */
  private final List<Activations> ownNormed;

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
    this.gelu = model.architecture().equals("gemma3");
    int rows = shape.stepTokensMax();
    LayerWeights layer = weights.layers().getFirst();
    Set<Activations.Form> forms =
        forms(w -> List.of(w.query(), w.key(), w.value(), w.gate(), w.up()));
    before = new float[rows * model.embedding()];
    between = new float[before.length];
    normed = new Activations(rows, model.embedding(), forms);
    ownNormed =
        IntStream.range(0, shape.threads())
            .mapToObj(_ -> new Activations(FEW_ROWS, model.embedding(), forms))
            .toList();
    queries = new float[rows * layer.query().stride()];
    keys = new float[rows * layer.key().stride()];
    values = new float[rows * layer.value().stride()];
    attended =
        new Activations(rows, model.heads() * model.headSize(), forms(w -> List.of(w.output())));
    gates = new float[rows * layer.gate().stride()];
    ups = new float[rows * layer.up().stride()];
    hidden = new Activations(rows, model.feedForward(), forms(w -> List.of(w.down())));
    added = new float[rows * Math.max(layer.output().stride(), layer.down().stride())];
    attention =
        new AttentionPhase(
            weights, memory, shape, new AttentionPhase.Buffers(queries, keys, values, attended));
  }

  /** What all layers together want of the common input of some matrices. */
  private Set<Activations.Form> forms(Function<LayerWeights, List<Matrix>> matrices) {
    return Activations.Form.of(
        weights.layers().stream().map(matrices).flatMap(List::stream).toArray(Matrix[]::new));
  }

  /** Where each row of the Step ends up, after the last layer: {@code [row][embedding]}. */
  float[] stream() {
    return before;
  }

  /** Phases of a run. */
  int phases() {
    return PHASES_A_LAYER * model.layers() + 1;
  }

  /** How the Step's attention is dealt out: made once, for all threads. */
  AttentionPhase.Plans plans(StepRows rows) {
    return attention.plans(rows);
  }

  void run(StepRows rows, AttentionPhase.Plans plans, Turn turn) {
    for (int layer = 0; layer < model.layers(); layer++) {
      attend(rows, attention.plan(plans, layer), layer, turn);
      feedForward(rows, layer, turn);
    }
    int last = model.layers() - 1;
    turn.together(
        share -> {
          for (int row = share.from(rows.count()); row < share.to(rows.count()); row++) {
            end(row, last);
          }
        });
  }

  private void attend(StepRows rows, AttentionPlan plan, int layer, Turn turn) {
    int count = rows.count();
    LayerWeights w = weights.layers().get(layer);
    multiply(
        count,
        turn,
        (row, in) -> begin(rows, row, layer, in),
        (in, share) -> {
          w.query().multiply(in, count, queries, share);
          w.key().multiply(in, count, keys, share);
          w.value().multiply(in, count, values, share);
        });
    // A row that is alone in its Slice is the only one that needs its key at once.
    boolean alone = rows.slices().size() == count;
    if (!alone) {
      int kept = attention.kept(rows);
      turn.together(
          share -> {
            for (int unit = share.from(kept); unit < share.to(kept); unit++) {
              attention.keep(rows, layer, unit, turn.thread());
            }
          });
    }
    turn.together(
        plan.units().size(),
        share -> attention.run(rows, layer, plan, share.part(), alone, turn.thread()));
    turn.together(share -> w.output().multiply(attended, count, added, share));
  }

  private void feedForward(StepRows rows, int layer, Turn turn) {
    int count = rows.count();
    LayerWeights w = weights.layers().get(layer);
    multiply(
        count,
        turn,
        (row, in) -> {
          add(row, w.output().stride(), w.attentionPostNorm(), before, between);
          normalise(row, between, w.feedForwardNorm(), in);
        },
        (in, share) -> {
          w.gate().multiply(in, count, gates, share);
          w.up().multiply(in, count, ups, share);
        });
    turn.together(share -> activate(rows, share, w.gate().stride()));
    turn.together(share -> w.down().multiply(hidden, count, added, share));
  }

  /** Makes one row of the input of a product. */
  private interface Preparation {
    void prepare(int row, Activations into);
  }

  /** Products of a prepared input with a share of some weights. */
  private interface Products {
    void multiply(Activations in, Share share);
  }

  private void multiply(int count, Turn turn, Preparation preparation, Products products) {
    if (count <= FEW_ROWS) {
      Activations own = ownNormed.get(turn.thread());
      // Every thread writes the stream too, all the same numbers.
      turn.together(
          turn.shares(),
          () -> prepare(0, count, preparation, own),
          share -> products.multiply(own, share));
    } else {
      turn.together(share -> prepare(share.from(count), share.to(count), preparation, normed));
      turn.together(share -> products.multiply(normed, share));
    }
  }

  private static void prepare(int from, int to, Preparation preparation, Activations into) {
    for (int row = from; row < to; row++) {
      preparation.prepare(row, into);
    }
  }

  /** Brings a row's stream up to a layer, and makes the layer's input of it. */
  private void begin(StepRows rows, int row, int layer, Activations in) {
    if (layer == 0) {
      embed(rows.tokens()[row], row, in);
    } else {
      end(row, layer - 1);
    }
    normalise(row, before, weights.layers().get(layer).attentionNorm(), in);
  }

  private void end(int row, int layer) {
    LayerWeights w = weights.layers().get(layer);
    add(row, w.down().stride(), w.feedForwardPostNorm(), between, before);
  }

  /** Only what is final is written to the stream, since others may be writing the same. */
  private void embed(int token, int row, Activations scratch) {
    int from = scratch.row(row);
    int to = row * model.embedding();
    weights.embedding().row(token, scratch.values, from);
    for (int i = 0; i < model.embedding(); i++) {
      before[to + i] = scratch.values[from + i] * model.embeddingScale();
    }
  }

  private void normalise(int row, float[] stream, float[] norm, Activations into) {
    VectorMath.norm(
        new VectorMath.Part(stream, row * model.embedding()),
        norm,
        model.normEpsilon(),
        new VectorMath.Part(into.values, into.row(row)));
    into.quantise(row);
  }

  /** Adds a part's output to the stream, normalised before where the architecture says so. */
  private void add(int row, int stride, float @Nullable [] norm, float[] from, float[] into) {
    VectorMath.Part part = new VectorMath.Part(added, row * stride);
    VectorMath.Part old = new VectorMath.Part(from, row * model.embedding());
    VectorMath.Part sum = new VectorMath.Part(into, row * model.embedding());
    if (norm == null) {
      VectorMath.add(old, part, sum, model.embedding());
    } else {
      VectorMath.addNormed(old, part, norm, model.normEpsilon(), sum);
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
