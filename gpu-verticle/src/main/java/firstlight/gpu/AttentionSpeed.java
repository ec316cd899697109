package firstlight.gpu;

import firstlight.gpu.cuda.Launch;
import firstlight.model.Hyperparameters;
import firstlight.protocol.Slice;
import java.util.ArrayList;
import java.util.List;

/** How fast attention reads keys and values, as the device would launch it. */
final class AttentionSpeed {
  private static final int BLOCK_TOKENS = 16;
  private static final long SEED = 8;

  /** Of the GPU's memory, what one measurement may take. */
  private static final double ROOM_SHARE = 0.8;

  private final CheckBench bench;
  private final CheckMemory memory;
  private final Hyperparameters model;
  private final int group;

  private AttentionSpeed(CheckBench bench, CheckMemory memory) {
    this.bench = bench;
    this.memory = memory;
    model = bench.sizes().model();
    group = model.heads() / model.kvHeads();
  }

  static void run(CheckBench bench) {
    CheckSizes.Attention sizes = bench.sizes().attention();
    for (int context : sizes.contexts()) {
      for (int batch : sizes.batches()) {
        try (CheckMemory memory = bench.memory()) {
          new AttentionSpeed(bench, memory).measure("decode", batch, context, 1);
        }
      }
    }
    try (CheckMemory memory = bench.memory()) {
      new AttentionSpeed(bench, memory).measure("prefill", 1, sizes.prompt(), sizes.chunk());
    }
  }

  private long layerBytes(int batch, int context) {
    long positions = (long) batch * blocks(context) * BLOCK_TOKENS;
    return positions * 2 * model.kvHeads() * model.headSize() * Short.BYTES;
  }

  private static int blocks(int context) {
    return (context + BLOCK_TOKENS - 1) / BLOCK_TOKENS;
  }

  /**
   * @param count the last tokens of each Sequence, whose queries attend
   */
  private void measure(String what, int batch, int context, int count) {
    long bytes = layerBytes(batch, context);
    if (bytes > bench.gpu().free() * ROOM_SHARE) {
      bench
          .report()
          .leaveOut(
              "attention",
              "%s of %d at %d: %d MiB do not fit".formatted(what, batch, context, bytes >> 20));
      return;
    }
    int layers = Math.clamp(bench.sizes().sweepBytes() / bytes, 1, model.layers());
    List<int[]> tables = CheckSlices.tables(batch, blocks(context), SEED);
    List<Slice> slices =
        tables.stream().map(table -> CheckSlices.silent(context - count, count, table)).toList();
    StepRows rows = CheckSlices.rows(slices);
    StepTiles tiles = StepTiles.of(rows, CheckLayer.tableOf(rows), group);
    int splits =
        CudaShape.dealt(
            tiles.tiles().size(), StepBucket.enough(tiles.splitsMax(), Integer.MAX_VALUE));
    double seconds = bench.seconds(launches(rows, tiles, splits, layers, bytes)) / layers;
    note(what, new Measured(batch, context, count, splits, seconds));
  }

  private List<Launch> launches(
      StepRows rows, StepTiles tiles, int splits, int layers, long layerBytes) {
    int width = model.heads() * model.headSize();
    int size = tiles.tiles().size();
    long kv = filled(layers * layerBytes / Short.BYTES);
    long perLayer = 2L * model.kvHeads() * model.headSize() * BLOCK_TOKENS;
    long partials =
        (long) CudaShape.DEALT_MAX * model.kvHeads() * CudaShape.QUERIES * (model.headSize() + 2);
    long out = memory.room((long) rows.count() * width * Short.BYTES);
    long partialsAt = memory.room(partials * Float.BYTES);
    long queries = filled((long) rows.count() * width);
    long tilesAt = memory.ints(AttentionCase.words(tiles));
    long tables = memory.ints(CheckLayer.tables(rows));
    long counts = memory.counts(rows.count(), 0, size, splits);
    List<Launch> launches = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      KernelArguments.Attend told =
          new KernelArguments.Attend(
              out,
              partialsAt,
              queries,
              tilesAt,
              tables,
              new KernelArguments.Scores(group, model.attentionScale(), 0, Integer.MAX_VALUE),
              new KernelArguments.Memory(
                  kv,
                  layers * perLayer,
                  layer * perLayer,
                  BLOCK_TOKENS,
                  model.headSize(),
                  model.kvHeads()),
              counts);
      if (splits > 1) {
        launches.add(bench.kernels().attendSplits(told, splits, size));
        launches.add(bench.kernels().fold(told, size));
      } else {
        launches.add(bench.kernels().attend(told, size));
      }
    }
    return launches;
  }

  private long filled(long halves) {
    long at = memory.room(halves * Short.BYTES);
    memory.run(
        bench
            .kernels()
            .fill(
                KernelArguments.Fill.numbers(
                    KernelArguments.FillKind.HALF, at, halves, SEED, 0.5)));
    return at;
  }

  private record Measured(int batch, int context, int count, int splits, double seconds) {}

  private void note(String what, Measured measured) {
    long pairs = 0;
    for (int i = 0; i < measured.count; i++) {
      pairs += measured.context - i;
    }
    long kvRow = 2L * model.kvHeads() * model.headSize() * Short.BYTES;
    double read = (double) measured.batch * measured.context * kvRow / measured.seconds / 1e9;
    double computed =
        4.0 * measured.batch * pairs * model.heads() * model.headSize() / measured.seconds / 1e12;
    Double share = bench.share(read, CheckBench.COPY);
    bench
        .report()
        .add(
            "attention",
            CheckReport.row(
                "what",
                what,
                "batch",
                measured.batch,
                "context",
                measured.context,
                "tokens",
                measured.count,
                "splitsDealtOut",
                measured.splits,
                "seconds",
                measured.seconds,
                "GBps",
                read,
                "limitGBps",
                bench.limit(CheckBench.COPY),
                "share",
                share,
                "TFLOPs",
                computed));
    bench
        .report()
        .say(
            "  %s, batch %d, context %d: %.1f us, %.1f GB/s of keys and values%s, %.2f TFLOP/s",
            what,
            measured.batch,
            measured.context,
            measured.seconds * 1e6,
            read,
            CheckReport.percent(share),
            computed);
  }
}
