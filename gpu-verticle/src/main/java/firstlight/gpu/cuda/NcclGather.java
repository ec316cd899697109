package firstlight.gpu.cuda;

import static org.bytedeco.cuda.global.nccl.ncclAllGather;
import static org.bytedeco.cuda.global.nccl.ncclFloat;

import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.nccl.ncclComm;

/**
 * Brings together what several GPUs have: a copy, so that whichever way NCCL takes changes no bit.
 */
final class NcclGather implements StreamWork {
  private final Nccl nccl;
  private final ncclComm member;
  private final RawPointer ours;
  private final RawPointer all;
  private final long floats;

  NcclGather(Nccl nccl, ncclComm member, int rank, Nccl.Gathered what) {
    this.nccl = nccl;
    this.member = member;
    floats = what.floats();
    all = new RawPointer(what.address());
    ours = new RawPointer(what.address() + rank * floats * Float.BYTES);
  }

  @Override
  public void run(CUstream_st stream) {
    nccl.call("ncclAllGather", () -> ncclAllGather(ours, all, floats, ncclFloat, member, stream));
  }
}
