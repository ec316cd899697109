package firstlight.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Our engine on one file, in a new JVM each time, with this JVM's options, which are those of the
 * launcher.
 */
record OurEngine(String name, Path model, int threads, Map<String, String> settings, Path log)
    implements Contestant {

  @Override
  public Map<String, Double> measure() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(EngineChild.class.getName(), model.toString(), configuration()));
    return figures(Child.run(command, log).getLast());
  }

  private String configuration() {
    return new SettingsTree()
        .put("gpu.threads", threads)
        .put("gpu.kvBlocks", EngineRun.blocks(16))
        .put("gpu.contextMax", 1024)
        .put("gpu.stepTokensMax", EngineFigures.PROMPT)
        .putAll(settings)
        .yaml();
  }

  private static Map<String, Double> figures(String line) {
    try {
      return new ObjectMapper()
          .readValue(line, new TypeReference<LinkedHashMap<String, Double>>() {});
    } catch (JsonProcessingException e) {
      throw new BenchFailure("our engine printed no figures: " + line, e);
    }
  }
}
