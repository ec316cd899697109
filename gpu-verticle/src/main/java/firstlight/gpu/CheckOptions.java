package firstlight.gpu;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * What {@link GpuCheck} is asked to do.
 *
 * @param seconds after which nothing new is begun
 * @param json where the results go
 * @param ordinal the GPU's number
 * @param isSmall whether everything is as small as on the simulated driver
 * @param model a model file whose tokens are compared
 * @param reference greedy runs of that model by another implementation
 * @param runs how many of them
 */
record CheckOptions(
    int seconds,
    Path json,
    int ordinal,
    boolean isSmall,
    Optional<Path> model,
    Optional<Path> reference,
    int runs) {
  static final String USAGE =
      """
      usage: [--seconds N] [--json FILE] [--gpu N] [--small] [--model FILE --reference FILE [--runs N]]
        --seconds N       begin nothing new after so many seconds (200)
        --json FILE       where the results go (gpu-check.json)
        --gpu N           the number of the GPU (0)
        --small           everything as small as on the simulated driver
        --model FILE      a GGUF file whose greedy tokens are compared
        --reference FILE  what they are compared with: JSON with prompt_token_ids and generated_ids
        --runs N          how many runs of the reference (10)
      """;

  static CheckOptions defaults(Path json) {
    return new CheckOptions(200, json, 0, false, Optional.empty(), Optional.empty(), 10);
  }

  /**
   * @throws IllegalArgumentException an option is not known or not right
   */
  static CheckOptions parse(String[] arguments) {
    CheckOptions options = defaults(Path.of("gpu-check.json"));
    Deque<String> rest = new ArrayDeque<>(List.of(arguments));
    while (!rest.isEmpty()) {
      options = options.with(rest.poll(), rest);
    }
    if (options.model.isPresent() != options.reference.isPresent()) {
      throw new IllegalArgumentException("--model and --reference belong together");
    }
    return options;
  }

  private CheckOptions with(String name, Deque<String> rest) {
    return switch (name) {
      case "--seconds" ->
          new CheckOptions(number(name, rest), json, ordinal, isSmall, model, reference, runs);
      case "--json" ->
          new CheckOptions(seconds, path(name, rest), ordinal, isSmall, model, reference, runs);
      case "--gpu" ->
          new CheckOptions(seconds, json, number(name, rest), isSmall, model, reference, runs);
      case "--small" -> new CheckOptions(seconds, json, ordinal, true, model, reference, runs);
      case "--model" ->
          new CheckOptions(
              seconds, json, ordinal, isSmall, Optional.of(path(name, rest)), reference, runs);
      case "--reference" ->
          new CheckOptions(
              seconds, json, ordinal, isSmall, model, Optional.of(path(name, rest)), runs);
      case "--runs" ->
          new CheckOptions(seconds, json, ordinal, isSmall, model, reference, number(name, rest));
      default -> throw new IllegalArgumentException("unknown option " + name);
    };
  }

  private static String value(String name, Deque<String> rest) {
    if (rest.isEmpty()) {
      throw new IllegalArgumentException(name + " needs a value");
    }
    return rest.poll();
  }

  private static Path path(String name, Deque<String> rest) {
    return Path.of(value(name, rest));
  }

  private static int number(String name, Deque<String> rest) {
    String text = value(name, rest);
    try {
      return Integer.parseUnsignedInt(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("%s is not a number: %s".formatted(name, text), e);
    }
  }
}
