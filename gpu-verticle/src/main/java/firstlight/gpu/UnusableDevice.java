package firstlight.gpu;

import firstlight.gpu.cuda.CudaException;
import firstlight.gpu.cuda.CudaProbe;
import java.util.List;
import java.util.stream.Collectors;

/** A model can not be brought to its GPU; the message says why, and what helps. */
final class UnusableDevice extends RuntimeException {
  private static final long serialVersionUID = 1;

  UnusableDevice(String message) {
    super(message);
  }

  UnusableDevice(String model, List<CudaProbe.Gpu> gpus, CudaException cause) {
    super(
        switch (cause.kind()) {
          case OUT_OF_MEMORY ->
              ("%s does not fit into what is free of the %d MiB memory of %s (%s). End what"
                      + " else is on it, or lower gpu.cuda.kvMemory, or set gpu.cuda.weights to"
                      + " fp8; --device cpu does without")
                  .formatted(
                      model, gpus.getFirst().memoryBytes() >> 20, name(gpus), cause.getMessage());
          case LAUNCH_FAILED, LOST ->
              "%s can not be brought to %s (%s); --device cpu does without"
                  .formatted(model, name(gpus), cause.getMessage());
        },
        cause);
  }

  private static String name(List<CudaProbe.Gpu> gpus) {
    return gpus.stream()
        .map(gpu -> "GPU %d, %s".formatted(gpu.ordinal(), gpu.name()))
        .collect(Collectors.joining(" and "));
  }
}
