package firstlight.gpu;

import firstlight.model.Hyperparameters;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The attention of all rows of a Step in one layer: keeps their keys and values, turns queries, and
 * writes what the heads give. What is shared among the threads is here; {@link Attention} computes.
 */
final class AttentionPhase {
  /** Long Sequences whose splits can be dealt out in one Step. */
  private static final int SHARED = 4;

  private static final int PARTIALS_MAX = 1 << 22;

  private final ModelWeights weights;
  private final Hyperparameters model;
  private final KvMemory memory;
  private final AttentionPlan.Shape shape;
  private final List<Worker> workers;
  private final float[] partials;
  private final int group;

  /**
   * Projections of every row, before rotation, and where the heads' outputs go.
   *
   * @param queries {@code [row][stride of the layer's query matrix]}; keys and values alike
   */
  record Buffers(float[] queries, float[] keys, float[] values, Activations attended) {}

  private final Buffers buffers;

  AttentionPhase(ModelWeights weights, KvMemory memory, DeviceShape device, Buffers buffers) {
    this.weights = weights;
    this.model = weights.model();
    this.memory = memory;
    this.buffers = buffers;
    this.group = model.heads() / model.kvHeads();
    int record = Attention.record(model.headSize());
    int splits = device.contextMax() / Attention.SPLIT + 1;
    int quads = (group + AttentionKernels.QUAD - 1) / AttentionKernels.QUAD;
    long wanted = (long) SHARED * splits * model.kvHeads() * quads * AttentionKernels.QUAD * record;
    partials = new float[(int) Math.min(wanted, PARTIALS_MAX)];
    shape =
        new AttentionPlan.Shape(device.threads(), model.kvHeads(), group, record, partials.length);
    workers = IntStream.range(0, device.threads()).mapToObj(_ -> new Worker()).toList();
  }

  /** The plans of a Step's local and global layers; where the model has no windows, one twice. */
  record Plans(AttentionPlan local, AttentionPlan global) {}

  Plans plans(StepRows rows) {
    AttentionPlan global = AttentionPlan.of(rows, Integer.MAX_VALUE, shape);
    AttentionPlan local =
        model.slidingWindow() > 0 ? AttentionPlan.of(rows, model.slidingWindow(), shape) : global;
    return new Plans(local, global);
  }

  AttentionPlan plan(Plans plans, int layer) {
    return model.isLocal(layer) ? plans.local : plans.global;
  }

  /** Rows times KV heads: the units of {@link #keep}. */
  int kept(StepRows rows) {
    return rows.count() * model.kvHeads();
  }

  /** Keeps the key and the value of one row and KV head. */
  void keep(StepRows rows, int layer, int unit, int thread) {
    keep(rows, layer, unit / model.kvHeads(), unit % model.kvHeads(), workers.get(thread));
  }

  private void keep(StepRows rows, int layer, int row, int kvHead, Worker worker) {
    LayerWeights w = weights.layers().get(layer);
    int inRow = kvHead * model.headSize();
    int position = rows.positions()[row];
    int block = rows.slice(row).blocks()[position / memory.blockTokens()];
    int inBlock = position % memory.blockTokens();
    worker.turn(buffers.keys, row * w.key().stride() + inRow, w.keyNorm(), layer, position);
    long part = memory.part(layer, block, kvHead);
    memory.storeKey(part, inBlock, worker.head, 0);
    int at = row * w.value().stride() + inRow;
    memory.storeValue(part, inBlock, buffers.values, at);
  }

  /**
   * @param keep whether the rows' own keys and values are not kept yet; only where each is the only
   *     one of its Slice, so that no other unit waits for them
   */
  void run(StepRows rows, int layer, AttentionPlan plan, int number, boolean keep, int thread) {
    AttentionPlan.Unit unit = plan.units().get(number);
    AttentionPlan.Tile tile = unit.tile();
    Worker worker = workers.get(thread);
    if (keep && unit.isLast()) {
      keep(rows, layer, tile.row(), unit.kvHead(), worker);
    }
    int position = rows.positions()[tile.row()];
    Attention.View view =
        new Attention.View(
            layer,
            unit.kvHead(),
            rows.slice(tile.row()).blocks(),
            position,
            tile.rows(),
            group,
            plan.window());
    takeQueries(view, tile, worker);
    if (unit.isWhole()) {
      worker.whole(view, unit);
    } else if (!worker.part(view, unit)) {
      return;
    }
    writeOutputs(view, tile, worker);
  }

  private void takeQueries(Attention.View view, AttentionPlan.Tile tile, Worker worker) {
    LayerWeights w = weights.layers().get(view.layer());
    int size = model.headSize();
    for (int query = 0; query < view.queries(); query++) {
      int row = query / group;
      int head = view.kvHead() * group + query % group;
      int at = (tile.row() + row) * w.query().stride() + head * size;
      worker.turn(buffers.queries, at, w.queryNorm(), view.layer(), view.position() + row);
      worker.attention.query(query, worker.head, 0);
    }
  }

  private void writeOutputs(Attention.View view, AttentionPlan.Tile tile, Worker worker) {
    Activations attended = buffers.attended;
    int size = model.headSize();
    for (int query = 0; query < view.queries(); query++) {
      int row = tile.row() + query / group;
      int column = (view.kvHead() * group + query % group) * size;
      worker.attention.output(query, attended.values, attended.row(row) + column);
      attended.quantise(row, column, column + size);
    }
  }

  /** One thread's own. */
  private final class Worker {
    private final Attention attention =
        new Attention(memory, model.headSize(), model.attentionScale(), model.attentionSoftcap());

    /** One head, normalised and turned. */
    private final float[] head = new float[model.headSize()];

    private final float[] partial =
        new float[Attention.QUERIES * Attention.record(model.headSize())];

    void turn(float[] from, int at, float @Nullable [] norm, int layer, int position) {
      if (norm == null) {
        System.arraycopy(from, at, head, 0, head.length);
      } else {
        VectorMath.norm(
            new VectorMath.Part(from, at), norm, model.normEpsilon(), new VectorMath.Part(head, 0));
      }
      weights.rotations().get(layer).rotate(head, 0, position);
    }

    void whole(Attention.View view, AttentionPlan.Unit unit) {
      attention.begin(view.queries());
      for (int split = unit.split(); split < unit.end(); split++) {
        attention.split(view, split, partial, 0);
        attention.fold(view.queries(), partial, 0);
      }
    }

    /** Returns whether this was the last part of the tile, and all are folded now. */
    boolean part(Attention.View view, AttentionPlan.Unit unit) {
      AttentionPlan.Tile tile = unit.tile();
      int size = shape.partial(tile);
      for (int split = unit.split(); split < unit.end(); split++) {
        attention.split(view, split, partials, unit.partials() + (split - tile.split()) * size);
      }
      if (unit.left().decrementAndGet() > 0) {
        return false;
      }
      unit.left().set(unit.pieces());
      attention.begin(view.queries());
      for (int split = tile.split(); split < tile.end(); split++) {
        attention.fold(view.queries(), partials, unit.partials() + (split - tile.split()) * size);
      }
      return true;
    }
  }
}
