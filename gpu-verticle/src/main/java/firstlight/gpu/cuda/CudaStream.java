package firstlight.gpu.cuda;

import static firstlight.gpu.cuda.CudaException.check;
import static org.bytedeco.cuda.global.cudart.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
import static org.bytedeco.cuda.global.cudart.CU_STREAM_NON_BLOCKING;
import static org.bytedeco.cuda.global.cudart.cuMemcpyDtoDAsync;
import static org.bytedeco.cuda.global.cudart.cuMemcpyDtoHAsync;
import static org.bytedeco.cuda.global.cudart.cuMemcpyHtoDAsync;
import static org.bytedeco.cuda.global.cudart.cuStreamBeginCapture;
import static org.bytedeco.cuda.global.cudart.cuStreamCreate;
import static org.bytedeco.cuda.global.cudart.cuStreamDestroy;
import static org.bytedeco.cuda.global.cudart.cuStreamEndCapture;
import static org.bytedeco.cuda.global.cudart.cuStreamSynchronize;

import org.bytedeco.cuda.cudart.CUgraph_st;
import org.bytedeco.cuda.cudart.CUstream_st;

/**
 * Work for a GPU in the order in which it is given. Everything but {@link #await} returns at once.
 */
public final class CudaStream implements AutoCloseable {
  private final CUstream_st stream = new CUstream_st();

  CudaStream() {
    check(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  }

  /** Copies a part of pinned memory to the device. */
  public void upload(PinnedMemory from, long fromOffset, DeviceMemory to, long offset, long bytes) {
    check(
        cuMemcpyHtoDAsync(to.at(offset, bytes), from.part(fromOffset, bytes), bytes, stream),
        "cuMemcpyHtoDAsync");
  }

  /** Copies a part of the device's memory to pinned memory. */
  public void download(DeviceMemory from, long offset, PinnedMemory to, long toOffset, long bytes) {
    check(
        cuMemcpyDtoHAsync(to.part(toOffset, bytes), from.at(offset, bytes), bytes, stream),
        "cuMemcpyDtoHAsync");
  }

  /** Copies the beginning of the device's memory to another part of it. */
  public void copy(DeviceMemory from, DeviceMemory to, long bytes) {
    check(
        cuMemcpyDtoDAsync(to.at(0, bytes), from.at(0, bytes), bytes, stream), "cuMemcpyDtoDAsync");
  }

  public void launch(StreamWork work) {
    work.run(stream);
  }

  public void launch(CudaGraph graph) {
    graph.run(stream);
  }

  /** Records what the action launches instead of running it. */
  public CudaGraph record(Runnable launches) {
    CUgraph_st recorded = new CUgraph_st();
    check(
        cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
    try {
      launches.run();
    } finally {
      // Else the stream would go on recording.
      check(cuStreamEndCapture(stream, recorded), "cuStreamEndCapture");
    }
    return new CudaGraph(recorded);
  }

  /** Waits until all is done. What failed on the way is thrown here. */
  public void await() {
    check(cuStreamSynchronize(stream), "cuStreamSynchronize");
  }

  @Override
  public void close() {
    cuStreamDestroy(stream);
  }
}
