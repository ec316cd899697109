package firstlight.gpu.cuda;

import org.bytedeco.cuda.cudart.CUstream_st;

/** What a stream does, prepared: it can be given to the stream again and again, or recorded. */
public sealed interface StreamWork permits Launch, MatrixProduct, NcclGather {
  /** Gives it to the stream, and returns at once. */
  void run(CUstream_st stream);
}
