package firstlight.gpu;

import firstlight.gpu.cuda.DeviceMemory;
import firstlight.gpu.cuda.Gpu;
import firstlight.gpu.cuda.PinnedMemory;
import firstlight.model.Hyperparameters;

/** What a device needs beside weights, keys and values: made once, for the largest Step. */
record CudaWorkspace(
    CudaBuffers buffers, StepStaging staging, DeviceMemory answers, PinnedMemory pinnedAnswers) {

  /**
   * @param model as the GPU computes it
   * @param isShared whether other GPUs have shares of the model
   */
  static CudaWorkspace of(Gpu gpu, Hyperparameters model, GpuConfig config, boolean isShared) {
    CudaShape largest = CudaShape.of(model, config, GpuConfig.BLOCKS_MAX);
    long answerBytes = (long) largest.stepTokensMax() * StepLayout.ANSWER_BYTES;
    return new CudaWorkspace(
        CudaBuffers.of(gpu, model, largest, isShared),
        new StepStaging(gpu, largest, model.vocabulary()),
        gpu.allocate(answerBytes, "answers"),
        gpu.pin(answerBytes));
  }
}
