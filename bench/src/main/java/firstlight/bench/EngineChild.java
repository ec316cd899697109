package firstlight.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import firstlight.gpu.CpuDevice;
import firstlight.gpu.GpuConfig;
import firstlight.model.Model;
import firstlight.protocol.Device;
import firstlight.protocol.Settings;
import firstlight.protocol.Time;
import java.nio.file.Path;
import java.util.Map;

/** A JVM of its own that measures our engine once and prints the figures as one line of JSON. */
final class EngineChild {
  private EngineChild() {}

  /** Arguments: the model file, and the section {@code gpu} as YAML. */
  public static void main(String[] arguments) throws Exception {
    Settings settings = Settings.parse(arguments[1], System::getenv);
    GpuConfig config = GpuConfig.read(settings.section("gpu"));
    settings.problems().throwIfAny();
    try (Model model = Model.open("bench", Path.of(arguments[0]), null);
        Device device = CpuDevice.open(model, config)) {
      EngineRun run = new EngineRun(device, Time.system());
      // Once without looking: the compiler needs it, and llama.cpp's benchmarks do the same.
      run.measure();
      Map<String, Double> figures = run.measure();
      System.out.println(new ObjectMapper().writeValueAsString(figures));
    }
  }
}
