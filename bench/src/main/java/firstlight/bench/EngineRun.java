package firstlight.bench;

import firstlight.protocol.Device;
import firstlight.protocol.GenerationId;
import firstlight.protocol.RunStep;
import firstlight.protocol.Sampling;
import firstlight.protocol.Slice;
import firstlight.protocol.Time;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Measures a device as llama.cpp's own benchmarks measure theirs: whole Steps, tokens without a
 * meaning, each token sampled.
 */
final class EngineRun {
  private static final int[] NOTHING = {};

  private final Device device;
  private final Time time;
  private final int blockTokens;
  private long step;

  EngineRun(Device device, Time time) {
    this.device = device;
    this.time = time;
    this.blockTokens = device.capacity().blockTokens();
  }

  /** Blocks that the largest measurement needs. */
  static int blocks(int blockTokens) {
    int sequences = EngineFigures.BATCHES.getLast();
    return sequences * blocksOf(EngineFigures.BEFORE + EngineFigures.TOGETHER, blockTokens);
  }

  private static int blocksOf(int tokens, int blockTokens) {
    return (tokens + blockTokens - 1) / blockTokens;
  }

  Map<String, Double> measure() {
    Map<String, Double> figures = new LinkedHashMap<>();
    figures.put(EngineFigures.prefill(EngineFigures.PROMPT), prefill());
    figures.put(EngineFigures.DECODE, decode(1, 0, EngineFigures.ALONE));
    for (int sequences : EngineFigures.BATCHES) {
      fill(sequences);
      double rate = decode(sequences, EngineFigures.BEFORE, EngineFigures.TOGETHER);
      figures.put(EngineFigures.batched(sequences), rate);
    }
    return figures;
  }

  private double prefill() {
    long start = time.nanos();
    run(List.of(slice(0, EngineFigures.PROMPT, 0)));
    return EngineFigures.PROMPT * 1e9 / (time.nanos() - start);
  }

  /** Puts prompts into memory, as many in a Step as fit. */
  private void fill(int sequences) {
    int together = device.capacity().stepTokensMax() / EngineFigures.BEFORE;
    for (int first = 0; first < sequences; first += together) {
      run(
          IntStream.range(first, Math.min(sequences, first + together))
              .mapToObj(sequence -> slice(sequence, EngineFigures.BEFORE, 0))
              .toList());
    }
  }

  private double decode(int sequences, int before, int tokens) {
    long start = time.nanos();
    for (int position = before; position < before + tokens; position++) {
      List<Slice> slices = new ArrayList<>(sequences);
      for (int sequence = 0; sequence < sequences; sequence++) {
        slices.add(slice(sequence, 1, position));
      }
      run(slices);
    }
    return (double) sequences * tokens * 1e9 / (time.nanos() - start);
  }

  private void run(List<Slice> slices) {
    device.run(new RunStep(++step, slices));
  }

  private Slice slice(int sequence, int tokens, int start) {
    int vocabulary = device.capacity().vocabulary();
    int each = blocksOf(EngineFigures.BEFORE + EngineFigures.TOGETHER, blockTokens);
    int blocks = blocksOf(start + tokens, blockTokens);
    return new Slice(
        new GenerationId("bench-" + sequence),
        IntStream.range(start, start + tokens)
            .map(position -> (sequence * 977 + position * 31 + 13) % vocabulary)
            .toArray(),
        start,
        IntStream.range(sequence * each, sequence * each + blocks).toArray(),
        1,
        Sampling.GREEDY,
        start + tokens,
        NOTHING);
  }
}
