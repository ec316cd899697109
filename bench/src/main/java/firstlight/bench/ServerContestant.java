package firstlight.bench;

import firstlight.model.Tokenizer;
import firstlight.protocol.Time;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * A server, started anew for each measurement.
 *
 * @param name for the table
 * @param forShort started for most loads
 * @param forLong started for the long prompt; the same supplier: the same process does
 * @param plan what is measured
 */
record ServerContestant(String name, Supplier<Server> forShort, Supplier<Server> forLong, Plan plan)
    implements Contestant {
  static final String START = "start to the first 200, s";
  static final String MEMORY = "resident after the run, GiB";
  static final String MEMORY_MOST = "resident at its most, GiB";
  static final String MEMORY_ALL = "resident with all its processes, GiB";

  /** Kinds of loads. */
  enum Load {
    STREAMS,
    SHARED,
    LONG
  }

  /**
   * What is measured.
   *
   * @param streams how many at once, one load after the other
   * @param tokenizer measures prompts
   * @param random makes them; the next measurement has others
   */
  record Plan(
      Set<Load> loads,
      List<Integer> streams,
      Tokenizer tokenizer,
      RandomGenerator random,
      Time time,
      Progress progress) {}

  @Override
  public Map<String, Double> measure() {
    Map<String, Double> figures = new LinkedHashMap<>();
    boolean apart = forShort != forLong && plan.loads.contains(Load.LONG);
    try (RunningServer running = RunningServer.start(forShort.get(), plan.time)) {
      figures.put(START, running.startSeconds());
      try (LoadClient client = client(running)) {
        ServerLoad load = new ServerLoad(client, new Prompts(plan.tokenizer, plan.random));
        figures.putAll(shortLoads(load));
        if (!apart && plan.loads.contains(Load.LONG)) {
          figures.putAll(longLoad(load));
        }
      }
      figures.put(MEMORY, running.memory().resident());
      figures.put(MEMORY_MOST, running.memory().most());
      figures.put(MEMORY_ALL, Memory.together(running.processes()));
    }
    if (apart) {
      try (RunningServer running = RunningServer.start(forLong.get(), plan.time);
          LoadClient client = client(running)) {
        figures.putAll(longLoad(new ServerLoad(client, new Prompts(plan.tokenizer, plan.random))));
      }
    }
    return figures;
  }

  private LoadClient client(RunningServer running) {
    return new LoadClient(running.server().port(), running.server().model(), plan.time);
  }

  private Map<String, Double> shortLoads(ServerLoad load) {
    Map<String, Double> figures = new LinkedHashMap<>();
    if (plan.loads.contains(Load.STREAMS)) {
      for (int count : plan.streams) {
        plan.progress.say("  %s: %d streams", name, count);
        figures.putAll(load.streams(count));
      }
    }
    if (plan.loads.contains(Load.SHARED)) {
      plan.progress.say("  %s: a shared system prompt", name);
      figures.putAll(load.shared());
    }
    return figures;
  }

  private Map<String, Double> longLoad(ServerLoad load) {
    plan.progress.say("  %s: a long prompt beside streams", name);
    return load.beside();
  }
}
