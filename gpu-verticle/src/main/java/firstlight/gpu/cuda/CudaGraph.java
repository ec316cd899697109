package firstlight.gpu.cuda;

import static firstlight.gpu.cuda.CudaException.check;
import static org.bytedeco.cuda.global.cudart.cuGraphDestroy;
import static org.bytedeco.cuda.global.cudart.cuGraphExecDestroy;
import static org.bytedeco.cuda.global.cudart.cuGraphInstantiate;
import static org.bytedeco.cuda.global.cudart.cuGraphLaunch;

import org.bytedeco.cuda.cudart.CUgraphExec_st;
import org.bytedeco.cuda.cudart.CUgraph_st;
import org.bytedeco.cuda.cudart.CUstream_st;

/** Launches that were recorded once, and go to the GPU as one call. */
public final class CudaGraph implements AutoCloseable {
  private final CUgraphExec_st executable = new CUgraphExec_st();

  CudaGraph(CUgraph_st recorded) {
    try {
      check(cuGraphInstantiate(executable, recorded, 0), "cuGraphInstantiate");
    } finally {
      cuGraphDestroy(recorded);
    }
  }

  void run(CUstream_st stream) {
    check(cuGraphLaunch(executable, stream), "cuGraphLaunch");
  }

  /** Whatever the driver says: after a failure it has forgotten the graph. */
  @Override
  public void close() {
    cuGraphExecDestroy(executable);
  }
}
