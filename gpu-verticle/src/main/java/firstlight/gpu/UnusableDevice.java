package firstlight.gpu;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.CudaProbe;

/** A model can not be brought to its GPU; the message says why, and what helps. */
final class UnusableDevice extends RuntimeException {
  private static final long serialVersionUID = 1;

  UnusableDevice(String message) {
    super(message);
  }

  UnusableDevice(String model, CudaProbe.Gpu gpu, CudaException cause) {
    super(
        switch (cause.kind()) {
          case OUT_OF_MEMORY ->
              ("%s does not fit into what is free of the %d MiB memory of GPU %d, %s (%s). End what"
                      + " else is on it, or lower gpu.cuda.kvMemory, or set gpu.cuda.weights to"
                      + " fp8; --device cpu does without")
                  .formatted(
                      model,
                      gpu.memoryBytes() >> 20,
                      gpu.ordinal(),
                      gpu.name(),
                      cause.getMessage());
          case LAUNCH_FAILED, LOST ->
              "%s can not be brought to GPU %d, %s (%s); --device cpu does without"
                  .formatted(model, gpu.ordinal(), gpu.name(), cause.getMessage());
        },
        cause);
  }
}
