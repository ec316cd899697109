package firstlight.gpu;

import firstlight.gpu.cuda.Launch;
import java.util.ArrayList;
import java.util.List;

/** How fast products are: of many tokens, which compute; of few, which read weights. */
final class ProductSpeed {
  private static final long SEED = 6;
  private static final List<CudaWeightType> TYPES =
      List.of(CudaWeightType.BF16, CudaWeightType.FP8, CudaWeightType.Q8_0, CudaWeightType.Q4_K);

  /** Of a feed-forward matrix to its columns, as in the model. */
  private static final double SHAPE = 3.5;

  private final CheckBench bench;
  private final CheckMemory memory;

  private ProductSpeed(CheckBench bench, CheckMemory memory) {
    this.bench = bench;
    this.memory = memory;
  }

  static void many(CheckBench bench) {
    int size = bench.sizes().square();
    for (CudaWeightType type : TYPES) {
      try (CheckMemory memory = bench.memory()) {
        ProductSpeed speed = new ProductSpeed(bench, memory);
        CudaMatrix matrix = speed.matrix(type, size, size, SEED);
        for (int tokens : bench.sizes().manyTokens()) {
          speed.many(matrix, tokens);
        }
      }
    }
  }

  static void few(CheckBench bench) {
    int columns = bench.sizes().square();
    int rows = (int) (SHAPE * columns);
    for (CudaWeightType type : TYPES) {
      try (CheckMemory memory = bench.memory()) {
        ProductSpeed speed = new ProductSpeed(bench, memory);
        List<CudaMatrix> matrices = new ArrayList<>();
        long bytes = rows * type.rowBytes(columns);
        for (long at = 0; at < bench.sizes().sweepBytes(); at += bytes) {
          matrices.add(speed.matrix(type, rows, columns, SEED + matrices.size()));
        }
        for (int tokens : bench.sizes().fewTokens()) {
          speed.few(matrices, tokens);
        }
      }
    }
  }

  private CudaMatrix matrix(CudaWeightType type, int rows, int columns, long seed) {
    try (WeightUpload upload = new WeightUpload(bench.gpu(), CudaConfig.Weights.FILE, 0)) {
      return memory.keep(
          RandomWeights.matrix(
              bench.gpu(), upload, type, new int[] {rows, columns}, seed, 1 / Math.sqrt(columns)));
    }
  }

  private Launch multiply(CudaMatrix matrix, long x, long out, long counts, int tokens) {
    return bench.kernels().multiply(KernelArguments.Product.of(out, matrix, x, counts), tokens);
  }

  private long tokens(int tokens, int columns) {
    long count = (long) tokens * columns;
    long x = memory.room(count * Short.BYTES);
    memory.run(
        bench
            .kernels()
            .fill(
                KernelArguments.Fill.numbers(
                    KernelArguments.FillKind.BF16, x, count, SEED + 1, 1)));
    return x;
  }

  private void many(CudaMatrix matrix, int tokens) {
    long x = tokens(tokens, matrix.columns());
    long out = memory.room((long) tokens * matrix.rows() * Float.BYTES);
    long counts = memory.counts(tokens, 0, 0, 1);
    double seconds = bench.seconds(List.of(multiply(matrix, x, out, counts, tokens)));
    double rate = 2.0 * matrix.rows() * matrix.columns() * tokens / seconds / 1e12;
    bench.limit(CheckBench.PRODUCTS, rate);
    bench
        .report()
        .add(
            "products",
            CheckReport.row(
                "weights",
                matrix.type().suffix(),
                "rows",
                matrix.rows(),
                "columns",
                matrix.columns(),
                "tokens",
                tokens,
                "seconds",
                seconds,
                "TFLOPs",
                rate,
                "limitTFLOPs",
                PublishedFigures.BF16_TFLOPS,
                "share",
                rate / PublishedFigures.BF16_TFLOPS));
    bench
        .report()
        .say(
            "  %s %d x %d x %d: %.2f TFLOP/s",
            matrix.type().suffix(), matrix.rows(), matrix.columns(), tokens, rate);
  }

  private void few(List<CudaMatrix> matrices, int tokens) {
    CudaMatrix first = matrices.getFirst();
    long x = tokens(tokens, first.columns());
    long out = memory.room((long) tokens * first.rows() * Float.BYTES);
    long counts = memory.counts(tokens, 0, 0, 1);
    double seconds =
        bench.seconds(
            matrices.stream().map(each -> multiply(each, x, out, counts, tokens)).toList());
    double rate = matrices.size() * first.rows() * first.rowBytes() / seconds / 1e9;
    Double share = bench.share(rate, CheckBench.COPY);
    bench
        .report()
        .add(
            "products",
            CheckReport.row(
                "weights",
                first.type().suffix(),
                "rows",
                first.rows(),
                "columns",
                first.columns(),
                "tokens",
                tokens,
                "seconds",
                seconds / matrices.size(),
                "GBps",
                rate,
                "limitGBps",
                bench.limit(CheckBench.COPY),
                "share",
                share));
    bench
        .report()
        .say(
            "  %s, %d tokens: %.1f GB/s of weights%s",
            first.type().suffix(), tokens, rate, CheckReport.percent(share));
  }
}
