package firstlight.gpu.cuda;

import static firstlight.gpu.cuda.CudaException.check;
import static org.bytedeco.cuda.global.cudart.cuLaunchKernel;

import org.bytedeco.cuda.cudart.CUfunc_st;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;

/** A launch of a kernel, prepared: what it is told and how many threads it gets stay the same. */
public final class Launch implements StreamWork {
  private static final PointerPointer<Pointer> NO_EXTRAS = new PointerPointer<>((Pointer) null);

  private final String name;
  private final CUfunc_st function;
  private final Grid grid;
  private final int threads;
  private final RawPointer told;
  private final PointerPointer<Pointer> arguments;

  /** Blocks of threads in three directions, each at least 1. */
  public record Grid(int x, int y, int z) {
    public Grid(int x, int y) {
      this(x, y, 1);
    }

    public Grid(int x) {
      this(x, 1, 1);
    }
  }

  Launch(String name, CUfunc_st function, Grid grid, int threads, StructWriter argument) {
    this.name = name;
    this.function = function;
    this.grid = grid;
    this.threads = threads;
    this.told = new RawPointer(argument.done());
    // The constructor that takes a pointer alone would make it a list of pointers.
    this.arguments = new PointerPointer<>(1);
    arguments.put(0, told);
  }

  @Override
  public void run(CUstream_st stream) {
    check(
        cuLaunchKernel(
            function, grid.x, grid.y, grid.z, threads, 1, 1, 0, stream, arguments, NO_EXTRAS),
        name);
  }

  @Override
  public String toString() {
    return "%s %s of %d threads, told %d bytes"
        .formatted(name, grid, threads, told.segment().byteSize());
  }
}
