package firstlight.gpu;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import firstlight.model.ModelFile;
import firstlight.protocol.RunStep;
import firstlight.protocol.SampledToken;
import firstlight.protocol.Sampling;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The greedy tokens of a model file beside those of another implementation, whose tokens are fed so
 * that one that differs does not change those after it.
 */
final class TokenCheck {
  private static final int STEP_TOKENS = 512;
  private static final int BLOCKS = 256;

  /** What one run has to have in common; quantised kernels of others differ as much. */
  private static final double SAME_MIN = 0.9;

  private TokenCheck() {}

  /** One run: what was asked, and what followed. */
  record Run(int[] prompt, int[] generated) {}

  static void run(CheckBench bench, CheckOptions options) throws IOException {
    List<Run> all = read(options.reference().orElseThrow());
    List<Run> runs = all.subList(0, Math.min(options.runs(), all.size()));
    Path path = options.model().orElseThrow();
    String name = String.valueOf(path.getFileName());
    GpuConfig config =
        DeviceCheck.config(
            new CudaConfig(CudaConfig.Weights.FILE, 0, true), BLOCKS, STEP_TOKENS, STEP_TOKENS);
    int same = 0;
    int positions = 0;
    try (ModelFile file = ModelFile.open(path);
        CudaDevice device =
            CudaDevice.open(
                new LoadedModel.Opening(name, CudaWeightSource.of(file), config, bench.ordinal()),
                bench.image())) {
      for (Run run : runs) {
        same += same(device, run);
        positions += run.generated.length;
      }
    }
    bench
        .report()
        .add(
            "tokens",
            CheckReport.row(
                "model", name,
                "reference", String.valueOf(options.reference().orElseThrow().getFileName()),
                "runs", runs.size(),
                "positions", positions,
                "same", same));
    bench.report().say("  %d of %d tokens as in the reference", same, positions);
    bench.require(
        "forward",
        "%d of %d tokens of %s as in the reference".formatted(same, positions, name),
        same >= SAME_MIN * positions && positions > 0);
  }

  /** At how many positions the reference's token is ours. */
  private static int same(CudaDevice device, Run run) {
    int[] forced =
        IntStream.concat(
                IntStream.of(run.prompt),
                IntStream.of(run.generated).limit(run.generated.length - 1))
            .toArray();
    int blockTokens = device.capacity().blockTokens();
    int[] blocks = IntStream.range(0, (forced.length + blockTokens - 1) / blockTokens).toArray();
    List<SampledToken> tokens =
        device
            .run(
                new RunStep(
                    1,
                    List.of(
                        CheckSlices.of(
                            0, forced, 0, blocks, run.generated.length, Sampling.GREEDY))))
            .slices()
            .getFirst()
            .tokens();
    return (int)
        IntStream.range(0, tokens.size())
            .filter(i -> tokens.get(i).id() == run.generated[i])
            .count();
  }

  /** Reads {@code items[]}, each with {@code prompt_token_ids} and {@code generated_ids}. */
  static List<Run> read(Path file) throws IOException {
    List<Run> runs = new ArrayList<>();
    int[] prompt = {};
    try (JsonParser parser = new JsonFactory().createParser(file.toFile())) {
      while (parser.nextToken() != null) {
        if (parser.currentToken() != JsonToken.FIELD_NAME) {
          continue;
        }
        if (parser.currentName().equals("prompt_token_ids")) {
          prompt = ids(parser);
        } else if (parser.currentName().equals("generated_ids")) {
          runs.add(new Run(prompt, ids(parser)));
        }
      }
    }
    return runs;
  }

  private static int[] ids(JsonParser parser) throws IOException {
    int[] ids = new int[16];
    int count = 0;
    parser.nextToken();
    while (parser.nextToken() == JsonToken.VALUE_NUMBER_INT) {
      if (count == ids.length) {
        ids = Arrays.copyOf(ids, 2 * count);
      }
      ids[count++] = parser.getIntValue();
    }
    return Arrays.copyOf(ids, count);
  }
}
