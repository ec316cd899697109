package firstlight.bench;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** llama.cpp's engine on one file, measured by its own two benchmarks. */
record PeerEngine(String name, Peer peer, Path model, int threads, Path log) implements Contestant {

  @Override
  public Map<String, Double> measure() {
    Map<String, Double> figures = new LinkedHashMap<>(LlamaBench.read(Child.run(alone(), log)));
    figures.putAll(LlamaBench.readBatched(Child.run(together(), log)));
    return figures;
  }

  private List<String> alone() {
    return List.of(
        peer.program("llama-bench"),
        "-m",
        model.toString(),
        "-p",
        String.valueOf(EngineFigures.PROMPT),
        "-n",
        String.valueOf(EngineFigures.ALONE),
        "-t",
        String.valueOf(threads),
        "-r",
        "1",
        "-o",
        "json");
  }

  private List<String> together() {
    int tokens = EngineFigures.BEFORE + EngineFigures.TOGETHER;
    return List.of(
        peer.program("llama-batched-bench"),
        "-m",
        model.toString(),
        "-c",
        String.valueOf(EngineFigures.BATCHES.getLast() * tokens),
        "-npp",
        String.valueOf(EngineFigures.BEFORE),
        "-ntg",
        String.valueOf(EngineFigures.TOGETHER),
        "-npl",
        EngineFigures.BATCHES.stream().map(String::valueOf).collect(Collectors.joining(",")),
        "-t",
        String.valueOf(threads),
        "--output-format",
        "jsonl");
  }
}
