package firstlight.gpu;

import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.PinnedMemory;

/** What memory gives at most: the limit of all that reads weights or keys and values. */
final class CopySpeed {
  private static final long SEED = 5;

  private CopySpeed() {}

  static void run(CheckBench bench) {
    Gpu gpu = bench.gpu();
    long bytes = Math.min(bench.sizes().copyBytes(), gpu.free() / 4) / 16 * 16;
    try (CheckMemory memory = bench.memory()) {
      DeviceMemory from = memory.take(bytes);
      DeviceMemory to = memory.take(bytes);
      memory.run(
          bench
              .kernels()
              .fill(
                  KernelArguments.Fill.numbers(
                      KernelArguments.FillKind.BF16, from.address(), bytes / 2, SEED, 1)));
      double copied = bench.seconds(() -> gpu.stream().copy(from, to, bytes));
      bench.limit(CheckBench.COPY, note(bench, "copy, bytes read and written", 2 * bytes, copied));
      long count = bytes / 16;
      long out = memory.room((long) Kernels.readers(count) * Integer.BYTES);
      KernelArguments.Reading reading = new KernelArguments.Reading(from.address(), count, out);
      double read = bench.seconds(() -> gpu.stream().launch(bench.kernels().read(reading)));
      note(bench, "read", bytes, read);
      long some = bytes / 8;
      PinnedMemory pinned = gpu.pin(some);
      pinned.segment().fill((byte) 1);
      note(
          bench,
          "upload from pinned memory",
          some,
          bench.seconds(() -> gpu.stream().upload(pinned, 0, to, 0, some)));
      note(
          bench,
          "download to pinned memory",
          some,
          bench.seconds(() -> gpu.stream().download(to, 0, pinned, 0, some)));
      gpu.free(pinned);
    }
  }

  private static double note(CheckBench bench, String what, long bytes, double seconds) {
    double rate = bytes / seconds / 1e9;
    bench
        .report()
        .add(
            "copy",
            CheckReport.row("what", what, "bytes", bytes, "seconds", seconds, "GBps", rate));
    bench.report().say("  %s: %.1f GB/s", what, rate);
    return rate;
  }
}
