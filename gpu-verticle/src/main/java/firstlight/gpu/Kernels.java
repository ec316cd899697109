package firstlight.gpu;

import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.Launch;
import firstlight.gpu.cuda.Launch.Grid;

/** Prepares launches of the kernels: with how many blocks and threads each is run. */
record Kernels(Gpu gpu) {
  private static final int ROW_THREADS = 256;
  private static final int HEAD_THREADS = 128;
  private static final int SAMPLE_THREADS = 512;
  private static final int WARP = 32;

  /** Blocks of kernels that go through memory of any size. */
  private static final int SWEEP_BLOCKS = 2048;

  private static final int FEW = 8;
  private static final int SOME = 32;
  private static final int MANY = 64;

  Launch embed(KernelArguments.Embed told, int rows) {
    return prepare("embed", new Grid(rows), ROW_THREADS, told);
  }

  Launch widen(KernelArguments.Convert told) {
    return prepare("widen", new Grid(told.from().rows()), ROW_THREADS, told);
  }

  Launch narrow(KernelArguments.Convert told) {
    return prepare("narrow", new Grid(told.from().rows()), ROW_THREADS, told);
  }

  Launch addNorm(KernelArguments.AddNorm told, int rows) {
    return prepare("add_norm", new Grid(rows), ROW_THREADS, told);
  }

  Launch activate(KernelArguments.Activate told, int rows) {
    int blocks = (told.size() + ROW_THREADS - 1) / ROW_THREADS;
    return prepare("activate", new Grid(rows, blocks), ROW_THREADS, told);
  }

  /** A thread takes four numbers. */
  Launch restore(KernelArguments.Restore told, int rows) {
    int blocks = (told.size() / 4 + ROW_THREADS - 1) / ROW_THREADS;
    return prepare("restore_order", new Grid(rows, blocks), ROW_THREADS, told);
  }

  /** The kernel for as many tokens as there are. All of them give the same bits. */
  Launch multiply(KernelArguments.Product told, int tokens) {
    int width = tokens <= FEW ? FEW : tokens <= SOME ? SOME : MANY;
    CudaMatrix matrix = told.matrix();
    String name = "multiply" + width + "_" + matrix.type().suffix();
    int rows = width == MANY ? 128 : 16;
    Grid grid = new Grid((matrix.rows() + rows - 1) / rows, (tokens + width - 1) / width);
    return prepare(name, grid, width == MANY ? HEAD_THREADS : WARP * matrix.ranges(), told);
  }

  Launch addRanges(KernelArguments.AddRanges told, int rows) {
    return prepare("add_ranges", new Grid(rows), ROW_THREADS, told);
  }

  Launch rotate(KernelArguments.Rotation told, int rows) {
    int heads = told.heads().heads() + 2 * told.memory().kvHeads();
    return prepare("rotate_store", new Grid(rows, heads), HEAD_THREADS, told);
  }

  /** A block takes all splits of a tile. */
  Launch attend(KernelArguments.Attend told, int tiles) {
    return attention("attend_", told, 1, tiles);
  }

  /** A block takes one split of a tile; {@link #fold} comes afterwards. */
  Launch attendSplits(KernelArguments.Attend told, int splits, int tiles) {
    return attention("attend_split_", told, splits, tiles);
  }

  Launch fold(KernelArguments.Attend told, int tiles) {
    return attention("fold_splits_", told, 1, tiles);
  }

  private Launch attention(String name, KernelArguments.Attend told, int splits, int tiles) {
    KernelArguments.Memory memory = told.memory();
    Grid grid = new Grid(splits, memory.kvHeads(), tiles);
    return prepare(name + memory.headSize(), grid, HEAD_THREADS, told);
  }

  Launch sample(KernelArguments.Sample told, int rows) {
    return prepare("sample", new Grid(rows), SAMPLE_THREADS, told);
  }

  Launch fill(KernelArguments.Fill told) {
    return prepare("fill_random", new Grid(sweep(told.words())), ROW_THREADS, told);
  }

  Launch read(KernelArguments.Reading told) {
    return prepare("read_words", new Grid(sweep(told.count())), ROW_THREADS, told);
  }

  /** Threads of {@link #read}. */
  static int readers(long count) {
    return sweep(count) * ROW_THREADS;
  }

  private static int sweep(long items) {
    return (int) Math.min(SWEEP_BLOCKS, (items + ROW_THREADS - 1) / ROW_THREADS);
  }

  private Launch prepare(String kernel, Grid grid, int threads, KernelArguments told) {
    return gpu.prepare(kernel, grid, threads, told.write());
  }
}
